import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import type { TradeEvent } from '../rules/events.js';
import { isoTime } from '../rules/times.js';
import { applied, IngestWorld, takeAll } from '#libs/testing/data/ingest-world.js';
import { SeriesListener, type SeriesOptions } from '#libs/testing/data/series-listener.js';
import { marketEvent, START, tradeEvent } from '#libs/testing/data/streams.js';

jest.setTimeout(120_000);

const HOUR = 3_600_000_000;
const DAY = 24 * HOUR;
const NOW = START + 14 * HOUR;

let world: IngestWorld;
const open: SeriesListener[] = [];

beforeAll(async () => {
  world = await IngestWorld.make();
});
afterAll(() => world.end());
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
  await world.empty();
});

type Row = Readonly<Record<string, unknown>>;
type Parameters = Readonly<Record<string, string | number | boolean>>;

const OF_M = { provider: 'venue_a', contract_id: 'm' };
const of = (source_id: string, hours: number, over: Partial<TradeEvent> = {}): TradeEvent =>
  tradeEvent('venue_a', 'm', { source_id, source_ts: NOW - hours * HOUR, ...over });
const listed = (hours: number): ReturnType<typeof marketEvent> => ({
  ...marketEvent('venue_a', 'm'),
  listed_at: NOW - hours * HOUR,
});

class Reader {
  private constructor(private readonly listener: SeriesListener) {}

  static async open(options: SeriesOptions = {}): Promise<Reader> {
    const clock = { epochNanos: () => BigInt(NOW) * 1_000n };
    const listener = await SeriesListener.open(world.database.pool, clock, options);
    open.push(listener);
    return new Reader(listener);
  }

  async get(
    path: string,
    parameters: Parameters,
  ): Promise<{ readonly body: Row; readonly coverage: string | null }> {
    const reply = await this.listener.get(path, { ...OF_M, ...parameters });
    expect(reply.status).toBe(200);
    return { body: reply.body as Row, coverage: reply.headers.get('x-data-coverage') };
  }

  async candles(timeframe_seconds: number, over: Parameters = {}): Promise<readonly Row[]> {
    const window = { start: isoTime(NOW - 5 * DAY), end: isoTime(NOW) };
    const { body } = await this.get('/candles', { timeframe_seconds, ...window, ...over });
    return body.candles as readonly Row[];
  }
}

async function reachesListing(): Promise<void> {
  await world.database.pool.query(
    `insert into data.freshness values (0, 'recorded', 'running', true, false, 0, 0, 0, 0, 0, 0, 0, 0, true, null)`,
  );
}

it('both legs of a match were summed (spellbook issue 9684): a match counts once, on the outcome of its taker', async () => {
  const match = of('0xhash:7', 2, { outcome_index: 1, price: 400_000, size: 5_000_000n, side: 'buy' });
  await world.ingestAll('venue_a', [[listed(9), { ...match, maker: '0xmaker', taker: '0xtaker' }]]);
  const reader = await Reader.open();
  const { body } = await reader.get('/trades/metrics', {});
  expect(body).toMatchObject({
    volume_usd: 2,
    outcome_0_volume_usd: 0,
    outcome_1_volume_usd: 2,
    trade_count: 1,
  });
  expect(await reader.candles(3_600, { outcome: 1 })).toMatchObject([{ volume: 5 }]);
  expect(await reader.candles(3_600, { outcome: 0 })).toEqual([]);
});

it('a payout was written over the prices of a candle (spellbook issue 9551): candles end with the last trade', async () => {
  const resolution = {
    ...({ type: 'RESOLUTION', provider: 'venue_a', market_id: 'm', status: 'settled' } as const),
    ...{ source_id: 'r', source_ts: NOW - HOUR, received_at: NOW, payouts: [1_000_000, 0] },
  };
  await world.ingestAll('venue_a', [[listed(9), of('t', 2, { price: 610_000 }), resolution]]);
  const reader = await Reader.open();
  for (const timeframe of [1, 60, 300, 900, 3_600, 14_400, 86_400]) {
    const window = { start: isoTime(NOW - 20 * HOUR) };
    expect(await reader.candles(timeframe, window)).toMatchObject([
      { open: 61, high: 61, low: 61, close: 61 },
    ]);
    const other = await reader.candles(timeframe, { ...window, outcome: 1 });
    expect(other).toEqual([]);
  }
});

it('a resolved market had no history in fine steps (py-clob-client issue 216): it keeps its whole history', async () => {
  const resolution = {
    ...({ type: 'RESOLUTION', provider: 'venue_a', market_id: 'm', status: 'resolved' } as const),
    ...{ source_id: 'r', source_ts: NOW - 3 * DAY, received_at: NOW, payouts: [0, 1_000_000] },
  };
  const trades = [100, 98, 97, 96].map((hours) => of(`t${hours}`, hours));
  await reachesListing();
  await world.ingestAll('venue_a', [[listed(101), ...trades, resolution]]);
  const reader = await Reader.open();
  for (const timeframe of [60, 300, 900, 3_600]) expect(await reader.candles(timeframe)).toHaveLength(4);
  const before = {
    timeframe_seconds: 60,
    start: isoTime(NOW - 99 * HOUR - 1),
    end: isoTime(NOW - 98 * HOUR),
  };
  expect(await reader.get('/candles', before)).toMatchObject({ body: { candles: [] }, coverage: 'complete' });
});

it('pages repeated after a thousand rows (polymarket-apis issue 4): no row is repeated or left out', async () => {
  const trades = Array.from({ length: 2_500 }, (_, index) =>
    of(`t${index}`, 2, { source_ts: NOW - DAY + 1 + (index % 40) }),
  );
  const ingest = await world.ingestAll('venue_a', [[listed(30)], trades]);
  const reader = await Reader.open();
  const rows: unknown[] = [];
  for (let cursor: unknown = ''; typeof cursor === 'string';) {
    const { body } = await reader.get('/trades/history', { limit: 400, cursor });
    rows.push(...(body.trades as readonly Row[]).map(({ trade_id }) => trade_id));
    cursor = body.next_cursor;
    // A late trade before those already read: it shifts every offset.
    await takeAll(ingest, [[of(`late${rows.length}`, 1)]]);
    await applied(ingest);
  }
  expect([...rows].sort()).toEqual(trades.map(({ source_id }) => source_id).sort());
});

it('trades older than some days were an empty list (pmxt issue 2251): the reply tells what is no longer there', async () => {
  await reachesListing();
  await world.ingestAll('venue_a', [[listed(60 * 24), of('t', 2)]]);
  const reader = await Reader.open({ retentionDays: 30 });
  const from = isoTime(NOW - 30 * DAY);
  const old = { timeframe_seconds: 3_600, start: isoTime(NOW - 40 * DAY), end: isoTime(NOW - 35 * DAY) };
  expect(await reader.get('/candles', old)).toEqual({
    body: { candles: [], history_from: from },
    coverage: `partial; from=${from}; gaps=0`,
  });
  const { coverage } = await reader.get('/candles', { ...old, start: from, end: isoTime(NOW - DAY) });
  expect(coverage).toBe('complete');
  expect(await reader.get('/trades/history', { window_seconds: 86_400 })).toMatchObject({
    body: { history_from: from },
    coverage: 'complete',
  });
});

it('every trade was delivered twice for a day (polygon-io issue 56): readers see each once', async () => {
  const trades = Array.from({ length: 30 }, (_, index) => of(`t${index}`, 2 + (index % 3)));
  await world.ingestAll('venue_a', [[listed(9), ...trades], [...trades].reverse(), trades]);
  const reader = await Reader.open();
  const { body } = await reader.get('/trades/history', {});
  expect(body).toMatchObject({ count: 30, metrics: { trade_count: 30, volume_usd: 15 } });
  expect(await reader.candles(3_600)).toMatchObject([{ volume: 10 }, { volume: 10 }, { volume: 10 }]);
  expect(await reader.candles(86_400)).toMatchObject([{ volume: 30 }]);
});
