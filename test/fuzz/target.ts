import type { AsyncApi } from '#libs/edge/documents/asyncapi-types.js';
import type { OpenApi } from '#libs/edge/documents/openapi-types.js';
import { ApiClient } from '#libs/client/api-client.js';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { StreamClient } from '#libs/client/stream-client.js';
import { LEAVER, NEWCOMER, QUOTER } from './cast.js';
import type { Furniture } from './furniture.js';
import { House } from './house.js';
import type { KnownValues } from './schema-values.js';
import type { Shown } from './shown.js';

/** Every process may be asked, by signal alone, to open its debugger at any port. */
const SETTINGS = { LIMITS_FACTOR: '100', GATEWAYS: '2', NODE_OPTIONS: '--inspect-port=0' };
const NAMES = ['originator-2', QUOTER, NEWCOMER, 'operator-1', 'auditor-1', 'viewer-1'];
const ELSEWHERE = '127.0.0.2';

export interface Target {
  readonly cluster: OwnedCluster;
  readonly ports: readonly number[];
  readonly http: OpenApi;
  readonly stream: AsyncApi;
  readonly streamPath: string;
  /** Tokens of good sessions, by name. */
  readonly tokens: ReadonlyMap<string, string>;
  readonly known: KnownValues;
  readonly resumeToken: string;
  readonly resumer: string;
  readonly furniture: Furniture;
  readonly shown: Shown;
  close(): void;
}

/** A cluster with a little in it, so that hostile requests can name what there is. */
export async function openTarget(): Promise<Target> {
  const cluster = await startCluster({ env: SETTINGS });
  try {
    return await furnished(cluster);
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

async function furnished(cluster: OwnedCluster): Promise<Target> {
  const { gatewayUrl, file } = cluster;
  // Failed logins bar their address for a while, and hostile ones fail.
  const anybody = new ApiClient(gatewayUrl, { localAddress: ELSEWHERE });
  const logIn = (name: string): Promise<string> => tokenOf(anybody, name, file.demo.password);
  const tokens = new Map<string, string>();
  for (const name of NAMES) tokens.set(name, await logIn(name));
  tokens.set(LEAVER, await logIn(LEAVER));
  const house = await House.furnished(cluster, {
    as: (name) => anybody.as(tokens.get(name) ?? ''),
    renewLeaver: async () => void tokens.set(LEAVER, await logIn(LEAVER)),
  });
  const [http, stream] = await Promise.all([
    anybody.get<OpenApi>('/openapi.json'),
    anybody.get<AsyncApi>('/asyncapi.json'),
  ]);
  const resumeToken = await resumeTokenOf(gatewayUrl, tokens.get(QUOTER) ?? '');
  return {
    cluster,
    ports: file.processes.flatMap(({ url }) => (url === undefined ? [] : [Number(new URL(url).port)])),
    http: http.body,
    stream: stream.body,
    streamPath: stream.body.channels.stream.address,
    tokens,
    resumeToken,
    resumer: QUOTER,
    furniture: house.furniture,
    shown: house.shown,
    known: new Map([...(await house.known()), ['resume_token', [resumeToken]]]),
    close: () => {
      house.close();
      anybody.close();
    },
  };
}

async function tokenOf(anybody: ApiClient, name: string, password: string): Promise<string> {
  const body = { email: `${name}@demo.sotto`, password };
  const answer = await anybody.send<{ readonly access_token: string }>('POST', '/auth/login', { body });
  if (answer.status !== 200) throw new Error(`${name} cannot log in: ${answer.text}`);
  return answer.body.access_token;
}

async function resumeTokenOf(gatewayUrl: string, token: string): Promise<string> {
  const client = await StreamClient.open(gatewayUrl, { token });
  await client.hello();
  await client.subscribe();
  client.kill();
  return client.memory.token ?? '';
}
