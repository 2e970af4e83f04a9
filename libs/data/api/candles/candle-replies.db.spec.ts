import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { isoTime } from '../../rules/times.js';
import { applied, IngestWorld, takeAll } from '#libs/testing/data/ingest-world.js';
import { SeriesListener } from '#libs/testing/data/series-listener.js';
import { bustOf, marketEvent, START, tradeEvent } from '#libs/testing/data/streams.js';
import type { MarketDataEvent, TradeEvent } from '../../rules/events.js';

jest.setTimeout(120_000);

const MINUTE = 60_000_000;
const HOUR = 60 * MINUTE;
const NOON = START + 14 * HOUR;

let world: IngestWorld;
let listener: SeriesListener;
let now = NOON + 30_000_000;

beforeAll(async () => {
  world = await IngestWorld.make();
  listener = await SeriesListener.open(world.database.pool, { epochNanos: () => BigInt(now) * 1_000n });
});
afterAll(async () => {
  await listener.close();
  await world.end();
});
beforeEach(async () => {
  now = NOON + 30_000_000;
  await world.empty();
  listener.faults.length = 0;
  listener.apart.length = 0;
});

const of = (source_id: string, source_ts: number, over: Partial<TradeEvent> = {}): TradeEvent =>
  tradeEvent('venue_a', 'm', { source_id, source_ts, ...over });

/** A market that was listed an hour before its first trade, from a source that is complete. */
async function tell(
  ...events: readonly MarketDataEvent[]
): Promise<Awaited<ReturnType<IngestWorld['open']>>> {
  await world.database.pool.query(
    `insert into data.freshness select n, 'recorded', 'running', true, false, 0, 0, 0, 0, 0, 0, 0, 0, true, null
     from generate_series(0, 1) n on conflict do nothing`,
  );
  return world.ingestAll('venue_a', [
    [{ ...marketEvent('venue_a', 'm'), listed_at: NOON - 5 * HOUR }, ...events],
  ]);
}

const ASKED = {
  ...{ provider: 'venue_a', contract_id: 'm', timeframe_seconds: 60 },
  ...{ start: isoTime(NOON - HOUR), end: isoTime(NOON) },
};
type Asked = Readonly<Record<string, string | number | boolean>>;

interface CandlesBody {
  readonly candles: readonly Readonly<Record<string, unknown>>[];
  readonly history_from: string | null;
}

async function candles(over: Asked = {}): Promise<CandlesBody> {
  const reply = await listener.get('/candles', { ...ASKED, ...over });
  expect(reply.status).toBe(200);
  return reply.body as CandlesBody;
}

async function refused(over: Asked): Promise<readonly [number, unknown]> {
  const reply = await listener.get('/candles', { ...ASKED, ...over });
  return [reply.status, reply.body];
}

describe('a reply with candles', () => {
  it('lists each bucket with trades, with prices in cents and volume in whole contracts', async () => {
    await tell(
      of('one', NOON - 2 * MINUTE, { price: 525_500, size: 1_999_999n }),
      of('two', NOON - 2 * MINUTE + 5, { price: 1, size: 1_000_000n }),
      of('three', NOON - MINUTE),
    );
    const of60 = { contract_id: 'c-m', timeframe_seconds: 60, token_id: 'm-yes' };
    expect(await candles({ contract_id: 'c-m' })).toEqual({
      candles: [
        {
          ...{ ...of60, bucket_start: '2026-11-01T11:58:00Z' },
          ...{ open: 52.55, high: 52.55, low: 0.0001, close: 0.0001, volume: 2 },
        },
        { ...of60, bucket_start: '2026-11-01T11:59:00Z', open: 50, high: 50, low: 50, close: 50, volume: 1 },
      ],
      history_from: isoTime(NOON - 5 * HOUR),
    });
  });

  it('shows the outcome of a token id, even if another outcome is requested', async () => {
    await tell(of('no', NOON - MINUTE, { outcome_index: 1, price: 10_000 }));
    expect((await candles({ contract_id: 'm-no', outcome: 0 })).candles).toMatchObject([
      { open: 1, token_id: 'm-no' },
    ]);
    expect((await candles({ contract_id: 'm-yes', outcome: 1 })).candles).toEqual([]);
    expect((await candles({ outcome: 1 })).candles).toMatchObject([{ open: 1, token_id: 'm-no' }]);
  });

  it('has a null token id for an outcome without a token, and no token id in a single-book market', async () => {
    const untokened = { outcomes: [{ label: 'Yes' }, { label: 'No' }] };
    await world.ingestAll('venue_a', [
      [{ ...marketEvent('venue_a', 'm'), ...untokened }, of('t', NOON - MINUTE)],
    ]);
    await world.ingestAll('venue_b', [
      [marketEvent('venue_b', 'm'), tradeEvent('venue_b', 'm', { source_ts: NOON - MINUTE })],
    ]);
    expect((await candles()).candles).toMatchObject([{ token_id: null }]);
    const [single] = (await candles({ provider: ' Venue_B' })).candles;
    expect(Object.keys(single ?? {})).not.toContain('token_id');
  });

  it('is empty for an unknown contract, and refused for an outcome that the market lacks', async () => {
    await tell();
    expect(await candles({ contract_id: 'unheard', outcome: 7 })).toEqual({
      candles: [],
      history_from: null,
    });
    expect(await candles({ contract_id: 'm\0' })).toEqual({ candles: [], history_from: null });
    expect(await refused({ outcome: 2 })).toEqual([400, { detail: 'Unknown outcome: 2' }]);
  });

  it.each([
    ['provider', 'venue_x', 400, { detail: 'Unknown provider: venue_x' }],
    ['end', ASKED.start, 400, { detail: 'end must be after start' }],
    ['end', '2020-01-01', 400, { detail: 'end must be after start' }],
    ['timeframe_seconds', '61', 422, { detail: [{ loc: ['query', 'timeframe_seconds'] }] }],
    ['timeframe_seconds', 'x', 422, { detail: [{ loc: ['query', 'timeframe_seconds'] }] }],
    ['start', 'yesterday', 422, { detail: [{ loc: ['query', 'start'] }] }],
    ['outcome', '-1', 422, { detail: [{ loc: ['query', 'outcome'] }] }],
    ['rebuild', 'perhaps', 422, { detail: [{ loc: ['query', 'rebuild'] }] }],
    ['contract_id', 'x'.repeat(129), 422, { detail: [{ loc: ['query', 'contract_id'] }] }],
  ])('refuses %s=%s with %i', async (name, value, status, body) => {
    expect(await refused({ [name]: value })).toMatchObject([status, body]);
  });

  it('may be cached for a minute if all buckets are closed, and must be revalidated if one is still forming', async () => {
    await tell(of('closed', NOON - MINUTE), of('forming', NOON));
    const cacheOf = async (end: number): Promise<unknown> => {
      const reply = await listener.get('/candles', { ...ASKED, end: isoTime(end) });
      const { candles: all } = reply.body as CandlesBody;
      return [reply.headers.get('cache-control'), reply.headers.has('etag'), all.length];
    };
    expect(await cacheOf(NOON)).toEqual(['private, max-age=60', true, 1]);
    expect(await cacheOf(NOON + 1)).toEqual(['no-cache', true, 2]);
    expect(await cacheOf(NOON + 5 * HOUR)).toEqual(['no-cache', true, 2]);
  });

  it('tells its coverage: from when, and how many gaps the window touches', async () => {
    await tell(of('n1', NOON - 3 * HOUR, { seq: 1n }), of('n3', NOON - 2 * HOUR, { seq: 3n }));
    const coverageOf = async (start: number, end: number): Promise<unknown> =>
      (await listener.get('/candles', { ...ASKED, start: isoTime(start), end: isoTime(end) })).headers.get(
        'x-data-coverage',
      );
    const from = `from=${isoTime(NOON - 5 * HOUR)}`;
    expect(await coverageOf(NOON - HOUR, NOON)).toBe('complete');
    expect(await coverageOf(NOON - 5 * HOUR, NOON - 4 * HOUR)).toBe('complete');
    expect(await coverageOf(NOON - 4 * HOUR, NOON)).toBe(`partial; ${from}; gaps=1`);
    expect(await coverageOf(NOON - 6 * HOUR, NOON - 4 * HOUR)).toBe(`partial; ${from}; gaps=0`);
  });

  it('is empty for one-second candles that are too old, without claiming that nothing traded', async () => {
    await tell(of('t', NOON - 2 * HOUR));
    now = NOON + 24 * HOUR;
    const old = {
      ...ASKED,
      timeframe_seconds: 1,
      start: isoTime(NOON - 3 * HOUR),
      end: isoTime(NOON - HOUR),
    };
    const reply = await listener.get('/candles', old);
    expect(reply.headers.get('x-data-coverage')).toBe(`partial; from=${isoTime(NOON)}; gaps=0`);
    expect(reply.body).toEqual({ candles: [], history_from: isoTime(NOON) });
  });

  it('is the same on the companion listener', async () => {
    await tell(of('t', NOON - MINUTE));
    expect((await listener.get('/v1/candles', ASKED)).body).toEqual(await candles());
  });
});

describe('recomputed candles', () => {
  it('come from the trades, and stored candles that differ raise one alarm', async () => {
    await tell(of('t', NOON - MINUTE), of('u', NOON - 2 * MINUTE));
    const sound = await candles({ rebuild: true });
    expect([sound, listener.apart]).toEqual([await candles(), []]);
    await world.database.pool.query(
      `update data.candles set high = 1000000 where (timeframe, bucket) in ((60, $1), (86400, $1 - $1 % 86400000000))`,
      [NOON - MINUTE],
    );
    expect((await candles()).candles[1]).toMatchObject({ high: 100 });
    expect(await candles({ rebuild: true })).toEqual(sound);
    expect(await candles({ rebuild: true })).toEqual(sound);
    expect(listener.apart).toEqual([
      expect.stringContaining('1 buckets differ from 2026-11-01T11:59:00Z on'),
    ]);
    const { rows } = await world.database.pool.query('select provider, kind from data.alarms');
    expect(rows).toEqual([{ provider: 0, kind: 'candle_apart' }]);
  });

  it('leave out stored candles without trades, and include missing ones', async () => {
    await tell(of('t', NOON - MINUTE), of('u', NOON - 2 * MINUTE));
    const sound = await candles({ rebuild: true, timeframe_seconds: 300 });
    await world.database.pool.query(
      `update data.candles set bucket = bucket - $1::bigint where timeframe = 60`,
      [10 * MINUTE],
    );
    expect(await candles({ rebuild: true, timeframe_seconds: 300 })).toEqual(sound);
    expect(listener.apart).toEqual([expect.stringContaining('2 buckets differ')]);
  });
});

describe('a batch', () => {
  const item = (over: object = {}): object => ({ ...ASKED, ...over });
  async function batch(body: object | string): Promise<readonly [number, unknown]> {
    const reply = await listener.post('/candles/batch', body);
    return [reply.status, reply.body];
  }
  const listOf = (body: unknown): readonly Readonly<Record<string, unknown>>[] =>
    (body as { readonly results: readonly Readonly<Record<string, unknown>>[] }).results;

  it('has a result for each item in order, and reports a bad item only in its own result', async () => {
    await tell(of('t', NOON - MINUTE));
    const [status, body] = await batch({
      requests: [
        ...[item(), item({ provider: 'venue_x' }), item({ outcome: 2 }), item({ timeframe_seconds: '60' })],
        ...[
          item({ end: ASKED.start }),
          7,
          null,
          {},
          item({ contract_id: 'unheard' }),
          item({ start: 'soon' }),
        ],
        item({ timeframe_seconds: 61.5, outcome: null }),
      ],
      items: [],
    });
    expect(status).toBe(200);
    const { candles: one, history_from } = await candles();
    expect(body).toEqual({
      results: [
        { index: 0, candles: one, coverage: 'complete', history_from },
        { index: 1, candles: [], error: 'Unknown provider: venue_x' },
        { index: 2, candles: [], error: 'Unknown outcome: 2' },
        { index: 3, candles: [], error: 'timeframe_seconds: It must be a whole number' },
        { index: 4, candles: [], error: 'end must be after start' },
        { index: 5, candles: [], error: 'It must be an object' },
        { index: 6, candles: [], error: 'It must be an object' },
        { index: 7, candles: [], error: 'provider: It is required' },
        { index: 8, candles: [], coverage: 'partial; gaps=0', history_from: null },
        { index: 9, candles: [], error: 'start: It must be a time of ISO 8601' },
        { index: 10, candles: [], error: 'timeframe_seconds: It must be a whole number' },
      ],
    });
  });

  it('accepts its former name, unless both names are sent', async () => {
    await tell();
    expect(listOf((await batch({ items: [item(), 1] }))[1])).toHaveLength(2);
    expect(listOf((await batch({ requests: [item()], items: [item(), 1] }))[1])).toHaveLength(1);
    expect(await batch({ items: [] })).toMatchObject([422, { detail: [{ loc: ['body', 'items'] }] }]);
  });

  it.each([
    ['{}', ['body', 'requests']],
    ['{"requests": []}', ['body', 'requests']],
    ['{"requests": {}}', ['body', 'requests']],
    ['{"requests": null, "items": [{}]}', ['body', 'requests']],
    [JSON.stringify({ requests: Array.from({ length: 201 }, () => item()) }), ['body', 'requests']],
    ['[]', ['body']],
    ['{"requests": [], "requests": []}', ['body', 'requests']],
  ])('is refused as a whole if it is not a list of items: %.40s', async (body, loc) => {
    expect(await batch(body)).toMatchObject([422, { detail: [{ loc }] }]);
  });

  it('accepts eight mebibytes and no more', async () => {
    await tell();
    const padded = (bytes: number): string => `{"requests":[{}],"more":"${'x'.repeat(bytes - 31)}"}`;
    expect(Buffer.byteLength(padded(8_388_608))).toBeLessThanOrEqual(8_388_608);
    expect((await batch(padded(8_388_608)))[0]).toBe(200);
    expect(await batch(padded(8_388_640))).toEqual([413, { detail: 'Request body too large' }]);
  });

  it('may have 400,000 estimated bars and no more; bad and outdated items count none', async () => {
    await tell();
    const [day, month] = [24 * HOUR, 30 * 24 * HOUR];
    const bars = (count: number): object =>
      item({ timeframe_seconds: 60, start: isoTime(NOON - count * MINUTE), end: isoTime(NOON) });
    const most = [
      ...Array.from({ length: 9 }, () => bars(43_200)),
      // Clamped to thirty days.
      item({ start: isoTime(NOON - 2 * month), end: isoTime(NOON) }),
      ...[item({ provider: 'x', start: '2000-01-01' }), item({ outcome: 9, start: '2026-10-02' })],
      item({ timeframe_seconds: 1, start: isoTime(NOON - 3 * day), end: isoTime(NOON - 2 * day) }),
    ];
    expect(10 * 43_200).toBeGreaterThan(400_000);
    expect(await batch({ requests: most })).toEqual([
      400,
      { detail: 'Estimated bars 432000 exceed the limit of 400000' },
    ]);
    const exact = [...most.slice(1), bars(400_000 - 9 * 43_200)];
    expect((await batch({ requests: exact }))[0]).toBe(200);
    expect(await batch({ requests: [...exact, bars(1)] })).toEqual([
      400,
      { detail: 'Estimated bars 400001 exceed the limit of 400000' },
    ]);
  });

  it('fails with 500 only if every item failed on our side', async () => {
    const ingest = await tell(of('t', NOON - MINUTE));
    await applied(ingest);
    const { pool } = world.database;
    await pool.query('alter table data.candles rename to candles_away');
    try {
      const failed = { candles: [], error: 'An internal error occurred. Please try again later.' };
      expect(await batch({ requests: [item(), item()] })).toEqual([
        500,
        { detail: 'An internal error occurred. Please try again later.' },
      ]);
      expect(await batch({ requests: [item(), {}, item({ timeframe_seconds: 1 })] })).toMatchObject([
        200,
        {
          results: [
            { index: 0, ...failed },
            { error: 'provider: It is required' },
            { index: 2, coverage: 'complete' },
          ],
        },
      ]);
      expect(listener.faults).toHaveLength(3);
      // If nothing works, not all items are tried.
      const [status] = await batch({ requests: Array.from({ length: 200 }, () => item()) });
      expect(status).toBe(500);
      expect(listener.faults.length).toBeLessThan(20);
    } finally {
      await pool.query('alter table data.candles_away rename to candles');
    }
  });
});

it('the next request sees a late trade and a bust', async () => {
  const ingest = await tell(of('t', NOON - 3 * HOUR));
  const day = { start: isoTime(NOON - 5 * HOUR), end: isoTime(NOON + HOUR) };
  for (const timeframe_seconds of [1, 60, 300, 900, 3_600, 14_400, 86_400]) {
    expect((await candles({ ...day, timeframe_seconds })).candles).toMatchObject([{ volume: 1, close: 50 }]);
  }
  const late = of('late', NOON - 3 * HOUR + 5, { price: 990_000 });
  await takeAll(ingest, [[late]]);
  await applied(ingest);
  for (const timeframe_seconds of [1, 60, 300, 900, 3_600, 14_400, 86_400]) {
    expect((await candles({ ...day, timeframe_seconds })).candles).toMatchObject([{ volume: 2, close: 99 }]);
  }
  await takeAll(ingest, [[bustOf(late)]]);
  await applied(ingest);
  for (const timeframe_seconds of [1, 60, 300, 900, 3_600, 14_400, 86_400]) {
    expect((await candles({ ...day, timeframe_seconds })).candles).toMatchObject([{ volume: 1, close: 50 }]);
  }
});
