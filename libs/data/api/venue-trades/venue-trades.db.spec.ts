import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import {
  openDataRoutes,
  type CallerKind,
  type DataRoutes,
  type ReadReply,
} from '#libs/testing/data/data-routes.js';
import { IngestWorld } from '#libs/testing/data/ingest-world.js';
import {
  answers,
  MISBEHAVIOURS,
  openPlayedVenue,
  type PlayedVenue,
} from '#libs/testing/data/played-venue.js';
import { marketEvent } from '#libs/testing/data/streams.js';
import { accessFlag } from '../../rules/flags.js';
import { FlagTable } from '../../store/flag-table.js';
import { MarketReader } from '../../store/market-reader.js';
import { KnownFlags } from '../flags/known-flags.js';
import { KeyAccess } from '../flags/key-access.js';
import { Upstreams } from '../upstream/upstream.js';
import { VenueTradesController } from './venue-trades.controller.js';
import { VenueTrades } from './venue-trades.js';

jest.setTimeout(60_000);

const clock = new SystemClock();
const AT = 1_790_000_000;

let world: IngestWorld;
let venue: PlayedVenue;
let upstreams: Upstreams;
let flags: KnownFlags;
let routes: DataRoutes;

beforeAll(async () => {
  world = await IngestWorld.make();
  const { condition_id, ...bare } = marketEvent('venue_a', 'bare');
  expect(condition_id).toBe('c-bare');
  await world.ingestAll('venue_a', [[{ ...marketEvent('venue_a', 'alpha'), condition_id: '0xalpha' }, bare]]);
  venue = await openPlayedVenue();
  upstreams = new Upstreams({ venue_a: venue.url, venue_b: venue.url }, 300, clock);
  flags = new KnownFlags(new FlagTable(world.database.pool), clock);
  const trades = new VenueTrades({ upstreams, markets: new MarketReader(world.database.pool), clock });
  routes = await openDataRoutes([new VenueTradesController({ access: new KeyAccess(flags), trades })]);
});
beforeEach(() => {
  venue.asked.length = 0;
});
afterAll(async () => {
  await routes.close();
  upstreams.close();
  await venue.close();
  await world.end();
});

let calls = 0;

/** Every call is different, so that the short cache does not affect these tests. */
function get(path: string, caller: CallerKind = 'session'): Promise<ReadReply> {
  calls += 1;
  return routes.get(`${path}&${path.includes('venue_a') ? 'before' : 'max_ts'}=${AT * 2 + calls}`, caller);
}

const metrics = (body: unknown): unknown => (body as { metrics: unknown }).metrics;

describe('venue_b', () => {
  const tradeAt = (second: number, side: string, price: number, count: number): object => ({
    ...{ trade_id: `t${second}`, ticker: 'RAIN', price, count, taker_side: side },
    created_time: new Date((AT + second) * 1_000).toISOString(),
  });
  const TRADES = [tradeAt(3, 'no', 0.3, 10), tradeAt(2, 'yes', 0.3, 20), tradeAt(1, 'yes', 0.25, 4)];

  it('passes trades on unchanged, and counts cash on the side of the taker', async () => {
    venue.behave(answers({ trades: TRADES, cursor: 'next' }));
    const { status, headers, body } = await get('/trades/venue_b?ticker=RAIN&limit=3');
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(body).toEqual({
      ...{ trades: TRADES, cursor: 'next' },
      metrics: {
        ...{ volume_usd: 14, outcome_0_volume_usd: 7, outcome_1_volume_usd: 7 },
        ...{ outcome_0_pressure_pct: 50, trade_count: 3, window_seconds: 86_400, coverage_pct: 100 },
        ...{ source: 'external', indexing: false },
      },
    });
  });

  it('limits only the metrics to the times, both ends included', async () => {
    venue.behave(answers({ trades: TRADES, cursor: '' }));
    const path = `/trades/venue_b?ticker=RAIN&min_ts=${AT + 2}&max_ts=${AT + 3}`;
    const { body } = await routes.get(path, 'session');
    expect(body).toMatchObject({ trades: TRADES, cursor: null, metrics: { trade_count: 2, volume_usd: 13 } });
    const none = await routes.get(`/trades/venue_b?ticker=RAIN&min_ts=${AT + 4}`, 'session');
    expect(metrics(none.body)).toMatchObject({
      ...{ trade_count: 0, volume_usd: 0, outcome_0_pressure_pct: 50, coverage_pct: 0 },
    });
  });

  it('sends the venue no times, and passes its cursor on', async () => {
    venue.behave(answers({ trades: [], cursor: null }));
    await get('/trades/venue_b?ticker=RAIN%20%261&cursor=a%2Bb%3D&min_ts=1&junk=1');
    await get('/trades/venue_b?ticker=RAIN&cursor=');
    expect(venue.asked).toEqual([
      '/markets/trades?ticker=RAIN+%261&limit=100&cursor=a%2Bb%3D',
      '/markets/trades?ticker=RAIN&limit=100',
    ]);
  });

  it.each([
    ['answers 404', answers({}, 404)],
    ['answers 429', answers({}, 429)],
    ...Object.entries(MISBEHAVIOURS),
  ])('a venue that %s is reported as a provider error', async (_name, manner) => {
    venue.behave(manner);
    const { status, body } = await get('/trades/venue_b?ticker=RAIN');
    expect([status, body]).toEqual([502, { detail: 'Provider error: venue_b' }]);
  });

  it.each([
    '/trades/venue_b?limit=1',
    '/trades/venue_b?ticker=',
    `/trades/venue_b?ticker=${'x'.repeat(129)}`,
    '/trades/venue_b?ticker=RAIN&limit=0',
    '/trades/venue_b?ticker=RAIN&limit=501',
    '/trades/venue_b?ticker=RAIN&limit=1.5',
    '/trades/venue_b?ticker=RAIN&min_ts=soon',
    `/trades/venue_b?ticker=RAIN&cursor=${'x'.repeat(513)}`,
    '/trades/venue_b?ticker=RAIN&ticker=SNOW',
    '/trades/venue_a?limit=1',
    '/trades/venue_a?market=',
    `/trades/venue_a?market=0x1,${'x'.repeat(129)}`,
    '/trades/venue_a?market=0x1&after=1e3',
  ])('%s cannot be read', async (path) => {
    expect((await get(path)).status).toBe(422);
    expect(venue.asked).toEqual([]);
  });
});

describe('venue_a', () => {
  const tradeAt = (second: number, outcomeIndex: number, price: number, size: number): object => ({
    ...{ proxyWallet: '0xw', side: 'BUY', asset: '1', conditionId: '0xalpha', size, price },
    ...{ timestamp: AT + second, outcome: 'o', outcomeIndex, transactionHash: '0xt' },
  });
  const TRADES = [
    tradeAt(4, 2, 0.5, 10),
    tradeAt(3, 0, 0.5, 2),
    tradeAt(2, 1, 0.5, 8),
    tradeAt(1, 0, 0.5, 2),
  ];

  it('counts the two outcomes of most volume, the lower index first', async () => {
    venue.behave(answers(TRADES));
    const { status, body } = await get('/trades/venue_a?market=0xalpha');
    expect([status, body]).toEqual([
      200,
      {
        trades: TRADES,
        metrics: {
          ...{ volume_usd: 11, outcome_0_volume_usd: 4, outcome_1_volume_usd: 5 },
          ...{ outcome_0_pressure_pct: 44.444444, trade_count: 4, window_seconds: 86_400, coverage_pct: 100 },
          ...{ source: 'external', indexing: false },
        },
      },
    ]);
  });

  it('limits trades and metrics to the times, both ends included', async () => {
    venue.behave(answers(TRADES));
    const path = `/trades/venue_a?market=0xalpha&after=${AT + 2}&before=${AT + 3}&limit=4`;
    const { body } = await routes.get(path, 'session');
    expect(body).toMatchObject({ trades: TRADES.slice(1, 3), metrics: { trade_count: 2, volume_usd: 5 } });
    expect(venue.asked).toEqual(['/trades?market=0xalpha&limit=4']);
  });

  it('returns no more than the limit, whatever the venue sends', async () => {
    venue.behave(answers(TRADES));
    const { body } = await get('/trades/venue_a?market=0xalpha&limit=1');
    expect(body).toMatchObject({ trades: TRADES.slice(0, 1), metrics: { trade_count: 1 } });
  });

  it('finds condition ids by market and token id, sends ids in their form unchanged, and leaves out the rest', async () => {
    venue.behave(answers([]));
    await get('/trades/venue_a?market=alpha,alpha-no,bare,nobody&market[]=0xUnknown');
    expect(venue.asked).toEqual(['/trades?market=0xalpha%2C0xUnknown&limit=100']);
  });

  it('sends no request if no id is found', async () => {
    const { status, body } = await get('/trades/venue_a?market=bare,nobody');
    expect([status, body, venue.asked]).toEqual([200, { trades: [], metrics: {} }, []]);
  });

  it.each([
    [404, 404, 'Resource not found: alpha,0xbeta'],
    [429, 429, 'Provider error: rate limited'],
    [403, 502, 'Provider error: venue_a'],
  ])('%s of the venue is %s', async (status, shown, detail) => {
    venue.behave(answers({}, status));
    const reply = await get('/trades/venue_a?market=alpha,0xbeta');
    expect([reply.status, reply.body]).toEqual([shown, { detail }]);
    expect(reply.headers.get('x-ratelimit-limit')).toBeNull();
  });

  it.each(Object.entries(MISBEHAVIOURS))(
    'a venue that %s is reported as a provider error',
    async (_name, manner) => {
      venue.behave(manner);
      const { status, body } = await get('/trades/venue_a?market=0xalpha');
      expect([status, body]).toEqual([502, { detail: 'Provider error: venue_a' }]);
    },
  );
});

describe('a burst of calls', () => {
  it('sends one request, in whatever order the parameters come', async () => {
    venue.behave(answers({ trades: [], cursor: '' }));
    await Promise.all([
      routes.get('/trades/venue_b?ticker=BURST&limit=7', 'session'),
      routes.get('/trades/venue_b?limit=7&ticker=BURST', 'key'),
      routes.get('/trades/venue_b?ticker=BURST&limit=8', 'session'),
    ]);
    expect([...venue.asked].sort()).toEqual([
      '/markets/trades?ticker=BURST&limit=7',
      '/markets/trades?ticker=BURST&limit=8',
    ]);
  });

  it('does not cache a failure', async () => {
    venue.behave(answers({}, 500));
    expect((await routes.get('/trades/venue_b?ticker=FAILS', 'session')).status).toBe(502);
    venue.behave(answers({ trades: [], cursor: '' }));
    expect((await routes.get('/trades/venue_b?ticker=FAILS', 'session')).status).toBe(200);
  });
});

describe('access of keys', () => {
  const table = (): FlagTable => new FlagTable(world.database.pool);

  it.each([
    [null, 'API access is disabled for venue_b'],
    ['until Monday', 'API access is disabled for venue_b: until Monday'],
  ])('is refused if an operator switched it off (%s)', async (reason, detail) => {
    venue.behave(answers({ trades: [], cursor: '' }));
    await table().set(accessFlag('venue_b'), { enabled: false, reason, updatedAt: 1 });
    flags.forget();
    const { status, body } = await get('/trades/venue_b?ticker=RAIN', 'key');
    expect([status, body]).toEqual([403, { detail }]);
    for (const caller of ['session', 'admin'] as const) {
      expect((await get('/trades/venue_b?ticker=RAIN', caller)).status).toBe(200);
    }
    expect((await get('/trades/venue_a?market=nobody', 'key')).status).toBe(200);
    await table().remove(accessFlag('venue_b'));
    flags.forget();
    expect((await get('/trades/venue_b?ticker=RAIN', 'key')).status).toBe(200);
  });

  it('is refused if it cannot be verified', async () => {
    const { pool } = world.database;
    const blocker = await pool.connect();
    try {
      await blocker.query('begin');
      await blocker.query('lock table data.flags in access exclusive mode');
      flags.forget();
      const { status, body } = await get('/trades/venue_b?ticker=RAIN', 'key');
      expect([status, body]).toEqual([503, { detail: 'Unable to verify platform API access' }]);
      expect(venue.asked).toEqual([]);
      expect((await get('/trades/venue_b?ticker=RAIN', 'session')).status).toBe(200);
    } finally {
      await blocker.query('rollback');
      blocker.release();
    }
    expect((await get('/trades/venue_b?ticker=RAIN', 'key')).status).toBe(200);
  });
});
