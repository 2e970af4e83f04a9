import type { AsyncApi } from '#libs/edge/documents/asyncapi-types.js';
import type { OpenApi } from '#libs/edge/documents/openapi-types.js';
import { ApiClient } from '../cluster/api-client.js';
import { startCluster, type OwnedCluster } from '../cluster/cluster.js';
import { StreamClient } from '../streams/stream-client.js';
import type { AuctionView } from '../wire.js';
import { Furniture } from './furniture.js';
import type { KnownValues } from './schema-values.js';

/** Every process may be asked, by signal alone, to open its debugger at any port. */
const SETTINGS = { LIMITS_FACTOR: '100', GATEWAYS: '2', NODE_OPTIONS: '--inspect-port=0' };
const NAMES = ['originator-2', 'maker-1', 'operator-1', 'auditor-1', 'viewer-1'];
const LISTS = ['/v1/auctions', '/v1/contracts'];
const HOUR_MS = 3_600_000;

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
  readonly furniture: Furniture;
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
  const anybody = new ApiClient(gatewayUrl);
  const tokens = new Map<string, string>();
  for (const name of NAMES) tokens.set(name, await tokenOf(anybody, name, file.demo.password));
  const originator = anybody.as(tokens.get('originator-2') ?? '');
  const maker = anybody.as(tokens.get('maker-1') ?? '');
  const accountOf = (name: string): string =>
    file.demo.users.find(({ email }) => email === `${name}@demo.sotto`)?.account_id ?? '';
  const routes = file.contracts
    .slice(0, 3)
    .map(({ venue, contract_id, outcome }) => ({ venue, contract_id, outcome }));
  const auctions: string[] = [];
  for (const route of routes) {
    const opened = await originator.post<AuctionView>('/v1/auctions', {
      side: 'BUY',
      quantity_atoms: 10_000_000,
      routes: [route],
      duration_ms: 2 * HOUR_MS,
      audience: { market_maker_ids: [accountOf('maker-1'), accountOf('maker-2')] },
    });
    auctions.push(opened.body.auction_id);
  }
  const furniture = new Furniture(maker, auctions);
  await furniture.putBack();
  const { quotes } = furniture;
  const group = { name: 'friends', market_maker_ids: [accountOf('maker-1')] };
  const grouped = await originator.post<{ readonly group_id: string }>('/v1/groups', group);
  const cursors: string[] = [];
  for (const list of LISTS) {
    const { body } = await originator.get<{ readonly next_cursor: string }>(`${list}?limit=1`);
    cursors.push(body.next_cursor);
  }
  const [http, stream] = await Promise.all([
    anybody.get<OpenApi>('/openapi.json'),
    anybody.get<AsyncApi>('/asyncapi.json'),
  ]);
  const resumeToken = await resumeTokenOf(gatewayUrl, tokens.get('maker-1') ?? '');
  for (const client of [anybody, originator]) client.close();
  return {
    cluster,
    ports: file.processes.flatMap(({ url }) => (url === undefined ? [] : [Number(new URL(url).port)])),
    http: http.body,
    stream: stream.body,
    streamPath: stream.body.channels.stream.address,
    tokens,
    resumeToken,
    furniture,
    known: new Map<string, readonly unknown[]>([
      ['auctionID', auctions],
      ['auction_id', auctions],
      ['auction_ids', [auctions, auctions.slice(0, 1)]],
      ['id', auctions],
      ['quoteID', quotes],
      ['quote_id', quotes],
      ['group_id', [grouped.body.group_id]],
      ['groupID', [grouped.body.group_id]],
      ['market_maker_ids', [[accountOf('maker-1')], [accountOf('maker-1'), accountOf('maker-2')]]],
      ['routes', routes.map((route) => [route])],
      ['cursor', cursors],
      ['resume_token', [resumeToken]],
      ['quantity_atoms', [1_000_000, 10_000_000]],
      ['price_atoms', [500_000, 400_000]],
      ['expected_revision', [1]],
      ['n', ['0', '1', '2']],
      ['shard', ['0', '1', '2']],
    ]),
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
