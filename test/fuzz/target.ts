import type { AsyncApi } from '#libs/edge/documents/asyncapi-types.js';
import type { OpenApi } from '#libs/edge/documents/openapi-types.js';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { StreamClient } from '#libs/client/stream-client.js';
import { Accounts, QUOTER } from './accounts.js';
import { Fixtures } from './fixtures.js';

/** No rate limit may interfere with a run. */
const SETTINGS = { LIMITS_FACTOR: '100', GATEWAYS: '2' };

export interface FuzzTarget {
  readonly cluster: OwnedCluster;
  readonly ports: readonly number[];
  readonly http: OpenApi;
  readonly stream: AsyncApi;
  /** Tokens of valid sessions, by account. */
  readonly tokens: ReadonlyMap<string, string>;
  readonly real: Map<string, readonly unknown[]>;
  readonly auctionOf: (quote: string) => string | undefined;
  readonly resume: { readonly token: string; readonly owner: string };
  readonly fixtures: Fixtures;
  close(): Promise<void>;
}

/** A cluster with a few auctions and quotes, and the documents that it serves. */
export async function openTarget(): Promise<FuzzTarget> {
  const cluster = await startCluster({ env: SETTINGS });
  const { gatewayUrl, file } = cluster;
  const accounts = new Accounts(gatewayUrl, file.demo.password);
  const close = async (): Promise<void> => {
    accounts.close();
    await cluster.stop();
  };
  try {
    await accounts.logInAll();
    const fixtures = new Fixtures(file, accounts);
    await fixtures.make();
    const { tokens } = accounts;
    const token = await resumeTokenOf(gatewayUrl, tokens.get(QUOTER) ?? '');
    return {
      cluster,
      ports: file.processes.flatMap(({ url }) => (url === undefined ? [] : [Number(new URL(url).port)])),
      http: (await accounts.ask<OpenApi>('', 'GET', '/openapi.json')).body,
      stream: (await accounts.ask<AsyncApi>('', 'GET', '/asyncapi.json')).body,
      tokens,
      real: fixtures.real().set('resume_token', [token]),
      auctionOf: (quote) => fixtures.auctionOf(quote),
      resume: { token, owner: QUOTER },
      fixtures,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function resumeTokenOf(gatewayUrl: string, token: string): Promise<string> {
  const client = await StreamClient.open(gatewayUrl, { token });
  await client.hello();
  await client.subscribe();
  client.kill();
  return client.memory.token ?? '';
}
