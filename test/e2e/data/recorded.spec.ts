import { beforeAll, expect, it } from '@jest/globals';
import { sharedDataCluster } from '#libs/testing/cluster/shared-cluster.js';
import { marketLine, RecordedFloor, tradeLine, YESTERDAY } from './recorded-floor.js';

let floor: RecordedFloor;

beforeAll(async () => {
  floor = new RecordedFloor(await sharedDataCluster());
}, 120_000);

it("the cluster prints the address of market data and the demo users' keys, and answers there", async () => {
  const { data_url: data, md_url: companion, stream_url: stream, demo, processes } = floor.cluster.file;
  for (const url of [data, companion]) {
    expect(await (await fetch(`${url}/readyz`)).json()).toEqual({ status: 'ready' });
  }
  expect(stream).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/./);
  expect(processes.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['data', 'ingest']));
  const named = (name: string): (typeof demo.users)[number] =>
    demo.users.find(({ email }) => email === `${name}@demo.sotto`)!;
  const keys = Object.fromEntries((named('trader-1').api_keys ?? []).map((key) => [key.name, key]));
  expect(keys).toMatchObject({
    bare: { scopes: [] },
    trades: { scopes: ['trade:read'] },
    positions: { scopes: ['position:read'] },
    wildcard: { scopes: ['*'] },
    listed: { ip_allow_list: ['127.0.0.7'] },
  });
  expect(demo.users.filter(({ invited }) => !invited)).toEqual([named('uninvited-1')]);
  const statusWith = async (name: string): Promise<number> => {
    const { client_id: id, api_key: key, api_secret: secret } = keys[name]!;
    const headers = { 'x-client-id': id, 'x-api-key': key, 'x-api-secret': secret };
    return (await fetch(`${data}/markets/active?limit=1`, { headers })).status;
  };
  expect(await statusWith('bare')).toBe(200);
  expect(await statusWith('listed')).toBe(403);
  expect(await statusWith('revoked')).toBe(401);
});

it('lines in files count once, in any order, and invalid lines stop nothing', async () => {
  const [market, file] = ['recorded-once', 'once.ndjson'];
  const trades = Array.from({ length: 300 }, (_, nth) => tradeLine('venue_d', market, nth));
  floor.append(file, ...trades.slice(100).reverse(), 'no event', marketLine('venue_d', market));
  floor.append(file, ...trades.slice(0, 150), '{"type":"TRADE","provider":"venue_d"}');
  const { refused_count: count, refused } = await floor.applied(file, 353);
  expect([count, refused]).toEqual([
    2,
    [
      { line: 201, reason: 'not_json' },
      { line: 353, reason: 'missing_field' },
    ],
  ]);
  expect(await floor.candles('venue_d', market, YESTERDAY)).toEqual([
    expect.objectContaining({ bucket_start: `${YESTERDAY}T00:00:00Z`, volume: 300, close: 50 }),
  ]);
  expect(await floor.provider('venue_d')).toMatchObject({ conflicts: 0, state: 'running' });
});

it('ingest is killed, reads go on, and after its restart every event counts once', async () => {
  const [market, file] = ['recorded-killed', 'killed.ndjson'];
  const trades = Array.from({ length: 200 }, (_, nth) => tradeLine('venue_f', market, nth));
  floor.append(file, marketLine('venue_f', market), ...trades.slice(0, 100));
  await floor.applied(file, 101);
  const former = floor.cluster.kill('ingest-0');
  floor.append(file, ...trades.slice(50));
  expect(await floor.volume('venue_f', market)).toBe(100);
  await floor.cluster.restartOf('ingest-0', former);
  await floor.applied(file, 251);
  expect(await floor.volume('venue_f', market)).toBe(200);
});
