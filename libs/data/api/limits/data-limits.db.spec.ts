import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '#libs/testing/eventually.js';
import { ADMIN_SECRET, wrongTriple, type RequestHeaders } from '#libs/testing/data/data-callers.js';
import { DataWorld } from '#libs/testing/data/data-world.js';

let world: DataWorld;
let replica: DataWorld;
beforeAll(async () => {
  const limitChanges = new Map([
    ['/providers/configs', 3],
    ['/markets/details', 4],
    ['/markets/metadata', 6],
  ]);
  world = await DataWorld.open({ settings: { limitChanges } });
  replica = await world.replica();
});
afterAll(async () => {
  await replica.stop();
  await world.close();
});
afterEach(() => {
  expect([...world.faults, ...replica.faults]).toEqual([]);
});

const shown = (headers: Readonly<Record<string, unknown>>): unknown[] => [
  ...[headers['x-ratelimit-limit'], headers['x-ratelimit-remaining'], headers['retry-after']],
];
const seconds = (): number => Math.floor(Date.now() / 1_000);

describe('a limit', () => {
  it('is shown in every reply that counts, and refuses in its own format', async () => {
    const ask = () => world.ask('/providers/configs', { from: '127.0.2.1' });
    const began = seconds();
    expect(shown((await ask()).headers)).toEqual(['3', '2', undefined]);
    const second = await ask();
    const reset = Number(second.headers['x-ratelimit-reset']);
    expect(reset).toBeGreaterThanOrEqual(began + 60);
    expect(reset).toBeLessThanOrEqual(seconds() + 61);
    await ask();
    for (let time = 0; time < 2; time += 1) {
      const refused = await ask();
      expect([refused.status, refused.text]).toEqual([
        429,
        '{"error":"Rate limit exceeded: 3 per 1 minute"}',
      ]);
      expect(shown(refused.headers).slice(0, 2)).toEqual(['3', '0']);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(50);
      expect(refused.headers).toMatchObject({ 'cache-control': 'no-store', 'x-data-version': '1' });
    }
    expect((await world.ask('/providers/configs', { from: '127.0.2.2' })).status).toBe(200);
  });

  it('counts requests that later checks refuse, and none that earlier checks refuse', async () => {
    const { callers } = world;
    const user = await callers.user();
    const session = await callers.session(user);
    const key = await callers.key([], { user, addresses: ['127.0.0.7'] });
    const post = (headers: RequestHeaders, body: string | Buffer) =>
      world.ask('/markets/details', { method: 'POST', headers, body });
    const uncounted = [
      await post({}, '{}'),
      await post(wrongTriple(), '{}'),
      await post(key, '{}'),
      await post(await callers.session(await callers.user({ isInvited: false })), '{}'),
      await world.ask('/trades/history', { headers: await callers.key([], { user }) }),
      await post(session, Buffer.alloc(1_048_577)),
      await world.ask('/markets/details', { method: 'PUT', headers: session }),
      await world.ask('/markets/details/x', { method: 'POST', headers: session }),
    ];
    expect(uncounted.map(({ status, headers }) => [status, ...shown(headers)])).toEqual(
      [401, 401, 403, 403, 403, 413, 405, 404].map((status) => [status, undefined, undefined, undefined]),
    );
    expect(shown((await post(session, '[')).headers)).toEqual(['4', '3', undefined]);
    expect(shown((await post(session, '{"markets":[]}')).headers)).toEqual(['4', '2', undefined]);
    const fourth = await post(session, '[');
    expect([fourth.status, ...shown(fourth.headers)]).toEqual([422, '4', '1', undefined]);
    const own = await callers.key([], { user });
    const last = await post(own, '{"markets":[{"market_id":"x","provider_id":2}]}');
    expect([last.status, ...shown(last.headers)]).toEqual([200, '4', '0', undefined]);
    // Over the limit, the body is not read.
    expect((await post(own, '[')).status).toBe(429);
    expect((await post({}, '[')).status).toBe(401);
  });

  it('holds over all replicas within a second', async () => {
    const session = await world.callers.session();
    const path = '/markets/metadata?provider=venue_a&ticker=none';
    for (let time = 0; time < 3; time += 1) await world.ask(path, { headers: session });
    await eventually(async () => {
      const { headers, status } = await replica.ask(path, { headers: session });
      expect(status).toBe(429);
      expect(shown(headers).slice(0, 2)).toEqual(['6', '0']);
    });
    await eventually(
      async () => expect((await world.ask(path, { headers: session })).status).toBe(429),
      1_000,
    );
  });

  it('of the companion is higher for callers with credentials', async () => {
    const ask = (headers: RequestHeaders) =>
      world.ask('/v1/marks?provider=venue_a&contract_id=x', { on: 'companion', headers, from: '127.0.2.3' });
    expect(shown((await ask({})).headers)).toEqual(['60', '59', undefined]);
    expect(shown((await ask(await world.callers.session())).headers)).toEqual(['600', '599', undefined]);
    expect(shown((await ask({ 'x-admin-secret': ADMIN_SECRET })).headers).slice(0, 1)).toEqual(['600']);
  });

  it('for an unknown name prevents the start', async () => {
    const limitChanges = new Map([
      ['heavy', 5],
      ['/nothing', 5],
    ]);
    await expect(world.replica({ limitChanges })).rejects.toThrow(
      'DATA_LIMITS names /nothing, which is no group and no path',
    );
  });

  it('does not apply to health, readiness and operators', async () => {
    const admin = { 'x-admin-secret': ADMIN_SECRET };
    for (const path of ['/health', '/readyz', '/admin/ingest', '/markets/tick-size']) {
      expect(shown((await world.ask(path, { headers: admin })).headers)).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
    }
  });
});
