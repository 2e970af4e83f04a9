import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { JournaledMarketData } from '../../rules/event-codec.js';
import type { TradeEvent } from '../../rules/events.js';
import type { Provider } from '../../rules/providers.js';
import { isoTime } from '../../rules/times.js';
import { applied, IngestWorld, takeAll } from '#libs/testing/data/ingest-world.js';
import { SeriesListener } from '#libs/testing/data/series-listener.js';
import { slowTradesOf } from '#libs/testing/data/slow-bars.js';
import {
  bustOf,
  delivered,
  marketEvent,
  randomOf,
  randomStream,
  START,
  tradeEvent,
} from '#libs/testing/data/streams.js';

jest.setTimeout(120_000);

const HOUR = 3_600_000_000;
const NOON = START + 14 * HOUR;

let world: IngestWorld;
let listener: SeriesListener;
let now = NOON;

beforeAll(async () => {
  world = await IngestWorld.make();
  listener = await SeriesListener.open(world.database.pool, { epochNanos: () => BigInt(now) * 1_000n });
});
afterAll(async () => {
  await listener.close();
  await world.end();
});
afterEach(async () => {
  now = NOON;
  expect(listener.faults.splice(0)).toEqual([]);
  await world.empty();
});

interface HistoryBody {
  readonly trades: readonly { readonly trade_id: string; readonly timestamp: number }[];
  readonly count: number;
  readonly has_more: boolean;
  readonly next_cursor: string | null;
  readonly oldest_available_ts: number | null;
  readonly history_from: string | null;
  readonly metrics: Readonly<Record<string, unknown>>;
}

type Parameters = Readonly<Record<string, string | number | boolean>>;

async function history(parameters: Parameters): Promise<HistoryBody> {
  const reply = await listener.get('/trades/history', parameters);
  expect(reply.status).toBe(200);
  return reply.body as HistoryBody;
}

async function wholeHistory(parameters: Parameters, limit: number): Promise<HistoryBody['trades']> {
  const pages: HistoryBody['trades'][] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: HistoryBody = await history({ ...parameters, limit, cursor });
    expect([page.count, page.has_more]).toEqual([page.trades.length, page.next_cursor !== null]);
    pages.push(page.trades);
    cursor = page.next_cursor;
  }
  return pages.flat();
}

/** A slow reference computation. */
function slowHistory(
  events: readonly JournaledMarketData[],
  market: string,
  { from, to, showsWallets }: { readonly from: number; readonly to: number; readonly showsWallets: boolean },
): object[] {
  return slowTradesOf(events, market)
    .filter(({ source_ts }) => source_ts > from && source_ts <= to)
    .reverse()
    .map((trade) => {
      const micros = (BigInt(trade.price) * trade.size * 2n + 1_000_000n) / 2_000_000n;
      const wallet = (text: string | undefined): string | null => (showsWallets ? (text ?? null) : null);
      return {
        ...{
          trade_id: trade.source_id,
          timestamp: Number(`${trade.source_ts}e-6`),
          price: trade.price / 10_000,
        },
        ...{ size: Number(`${trade.size}e-6`), notional_usd: Number(`${micros}e-6`) },
        ...{ outcome_index: trade.outcome_index, outcome: trade.outcome_index === 0 ? 'Yes' : 'No' },
        ...{ side: trade.side ?? null, source: 'store' },
        ...{ maker: wallet(trade.maker), taker: wallet(trade.taker), tx_hash: wallet(trade.tx_hash) },
      };
    });
}

function slowMetrics(shown: readonly object[]): object {
  const micros = (trades: readonly object[]): bigint =>
    trades.reduce(
      (sum, trade) =>
        sum + ('notional_usd' in trade ? BigInt(Math.round(Number(trade.notional_usd) * 1_000_000)) : 0n),
      0n,
    );
  const of = (index: number): bigint =>
    micros(shown.filter((trade) => 'outcome_index' in trade && trade.outcome_index === index));
  const [zero, one] = [of(0), of(1)];
  return {
    volume_usd: Number(`${micros(shown)}e-6`),
    outcome_0_volume_usd: Number(`${zero}e-6`),
    outcome_1_volume_usd: Number(`${one}e-6`),
    outcome_0_pressure_pct:
      zero + one === 0n ? 50 : expect.closeTo((100 * Number(zero)) / Number(zero + one), 5),
    ...{ trade_count: shown.length, source: 'store', indexing: false },
  };
}

it.each([
  ['venue_a', 21],
  ['venue_b', 22],
] as const)('history and metrics of %s equal those of a slow program (seed %i)', async (provider, seed) => {
  const random = randomOf(seed);
  const events = randomStream(provider, seed, 400);
  await world.ingestAll(provider, delivered(events, random));
  for (let count = 0; count < 30; count += 1) {
    now = START + random(16) * HOUR + random(2);
    const market = ['alpha', 'beta', 'gamma'][random(3)] ?? 'alpha';
    const window_seconds = 60 + random(50_000);
    const before = random(2) === 0 ? START + random(14) * HOUR + random(2) : undefined;
    const from = now - window_seconds * 1_000_000;
    const to = Math.min(now, (before ?? now + 1) - 1);
    const query = {
      ...{ provider, contract_id: random(2) === 0 ? market : `c-${market}`, window_seconds },
      ...(before === undefined
        ? {}
        : { before: `${Math.floor(before / 1e6)}.${String(before % 1e6).padStart(6, '0')}` }),
    };
    const expected = slowHistory(events, market, { from, to, showsWallets: provider === 'venue_a' });
    expect(await wholeHistory(query, 1 + random(40))).toEqual(expected);
    const { metrics } = await history(query);
    expect(metrics).toMatchObject({ ...slowMetrics(expected), window_seconds });
    if (before !== undefined) continue;
    const reply = await listener.get('/trades/metrics', query);
    const { history_from, ...alone } = reply.body as Record<string, unknown>;
    expect(alone).toEqual(metrics);
    expect(history_from).toEqual(expect.any(String));
  }
});

describe('the history of trades', () => {
  async function with4(provider: Provider = 'venue_a'): Promise<void> {
    const trade = (source_id: string, hours: number, over: Partial<TradeEvent> = {}): TradeEvent =>
      tradeEvent(provider, 'm', { source_id, source_ts: START + hours * HOUR, ...over });
    await world.ingestAll(provider, [
      [
        { ...marketEvent(provider, 'm'), listed_at: START - HOUR },
        marketEvent(provider, 'other'),
        ...[trade('one', 1), trade('two', 2, { outcome_index: 1, price: 300_000 }), trade('three', 3)],
        ...[trade('busted', 4), bustOf(trade('busted', 4))],
      ],
    ]);
  }
  const ofM = { provider: 'venue_a', contract_id: 'm' };
  const idsOf = ({ trades }: HistoryBody): string[] => trades.map(({ trade_id }) => trade_id);

  it('has no busted trades, and for a token id only the trades of its outcome', async () => {
    await with4();
    expect(idsOf(await history(ofM))).toEqual(['three', 'two', 'one']);
    expect(idsOf(await history({ ...ofM, contract_id: 'm-no' }))).toEqual(['two']);
    expect(idsOf(await history({ ...ofM, token_id: 'm-no' }))).toEqual(['two']);
    expect(idsOf(await history({ ...ofM, contract_id: 'm-no', token_id: 'm-yes' }))).toEqual([]);
    expect(idsOf(await history({ ...ofM, token_id: 'other-no' }))).toEqual([]);
    expect(idsOf(await history({ ...ofM, token_id: 'nothing' }))).toEqual([]);
  });

  it('covers the window after its start up to now, or up to `before`', async () => {
    const at = (source_id: string, source_ts: number): TradeEvent =>
      tradeEvent('venue_a', 'm', { source_id, source_ts });
    const start = NOON - 60_000_000;
    await world.ingestAll('venue_a', [
      [
        ...[marketEvent('venue_a', 'm'), at('at the start', start), at('after it', start + 1)],
        ...[at('now', NOON), at('later', NOON + 1)],
      ],
    ]);
    const query = { ...ofM, window_seconds: 60 };
    expect(idsOf(await history(query))).toEqual(['now', 'after it']);
    expect(idsOf(await history({ ...query, before: NOON / 1_000_000 }))).toEqual(['after it']);
    expect(idsOf(await history({ ...query, before: `${NOON / 1_000_000}.0000001` }))).toEqual([
      'now',
      'after it',
    ]);
    expect(await history({ ...query, before: 0 })).toMatchObject({ trades: [], metrics: { trade_count: 0 } });
    expect((await history(query)).metrics).toMatchObject({ trade_count: 2, volume_usd: 1 });
  });

  it('shows a trade of the second outcome of a single-book market unchanged', async () => {
    await with4('venue_b');
    const { trades } = await history({ ...ofM, provider: 'VENUE_B ' });
    expect(trades[1]).toMatchObject({ outcome_index: 1, outcome: 'No', price: 30, notional_usd: 0.3 });
  });

  it('tells since when there are trades, and since when they are complete', async () => {
    await with4();
    const oldest = { oldest_available_ts: (START + HOUR) / 1_000_000 };
    expect(await history({ ...ofM, window_seconds: 60 })).toMatchObject({ ...oldest, trades: [] });
    expect(await history({ ...ofM, contract_id: 'm-no' })).toMatchObject({
      oldest_available_ts: (START + 2 * HOUR) / 1_000_000,
    });
    // No source has told how far it reaches.
    expect(await history(ofM)).toMatchObject({ history_from: isoTime(START + HOUR) });
  });

  it('of an unknown contract is empty, and claims no coverage', async () => {
    const reply = await listener.get('/trades/history', { ...ofM, contract_id: 'unheard' });
    expect([reply.status, reply.headers.get('x-data-coverage')]).toEqual([200, 'partial; gaps=0']);
    expect(reply.body).toEqual({
      ...{ trades: [], count: 0, has_more: false, next_cursor: null, oldest_available_ts: null },
      history_from: null,
      metrics: {
        ...{ volume_usd: 0, outcome_0_volume_usd: 0, outcome_1_volume_usd: 0, outcome_0_pressure_pct: 50 },
        ...{ trade_count: 0, window_seconds: 86_400, coverage_pct: 0, source: 'store', indexing: false },
      },
    });
  });

  it('has metrics of the whole window on every page', async () => {
    await with4();
    const all = await history(ofM);
    const { metrics, ...page } = await history({ ...ofM, limit: 1 });
    expect([metrics, page.has_more]).toEqual([all.metrics, true]);
    expect(metrics).toMatchObject({ trade_count: 3, volume_usd: 1.3, outcome_0_pressure_pct: 76.923077 });
    // Covers the part of the last day that lies after the oldest trade.
    expect(metrics.coverage_pct).toBe(54.166667);
  });

  it.each([
    ['window_seconds', '59'],
    ['window_seconds', '2592001'],
    ['window_seconds', '1.5'],
    ['before', '-1'],
    ['before', 'soon'],
    ['limit', '0'],
    ['limit', '1001'],
    ['trigger_ingest', 'yes'],
    ['contract_id', ''],
    ['token_id', 'x'.repeat(129)],
  ])('422: %s=%s', async (name, value) => {
    const reply = await listener.get('/trades/history', { ...ofM, [name]: value });
    expect([reply.status, reply.body]).toMatchObject([422, { detail: [{ loc: ['query', name] }] }]);
  });

  it('refuses with 400 a provider of recorded series, and a foreign cursor', async () => {
    await with4();
    const { next_cursor } = await history({ ...ofM, limit: 1 });
    const refused = async (parameters: Parameters): Promise<unknown> => {
      const reply = await listener.get('/trades/history', { ...ofM, ...parameters });
      return [reply.status, reply.body];
    };
    const bad = [400, { detail: 'Invalid or expired cursor' }];
    expect(await refused({ cursor: next_cursor ?? '', window_seconds: 3_600 })).toEqual(bad);
    expect(await refused({ cursor: 'AAAA' })).toEqual(bad);
    expect(await refused({ provider: 'venue_f' })).toEqual([400, { detail: 'Unknown provider: venue_f' }]);
    expect(
      (await listener.get('/trades/history', { ...ofM, limit: 2, cursor: next_cursor ?? '' })).status,
    ).toBe(200);
  });

  it('is partial while a number between two trades is missing, and complete once it has arrived', async () => {
    const numbered = (seq: bigint, hours: number): TradeEvent =>
      tradeEvent('venue_a', 'm', { source_id: `n${seq}`, seq, source_ts: NOON - hours * HOUR });
    const listed = { ...marketEvent('venue_a', 'm'), listed_at: NOON - 30 * HOUR };
    const ingest = await world.ingestAll('venue_a', [
      [listed, numbered(1n, 25), numbered(2n, 6), numbered(4n, 3)],
    ]);
    await world.database.pool.query(
      `insert into data.freshness values (0, 'recorded', 'running', true, false, 0, 0, 0, 0, 0, 0, 0, 0, true, null)`,
    );
    const coverageOf = async (parameters: Parameters): Promise<unknown> => {
      const reply = await listener.get('/trades/metrics', { ...ofM, ...parameters });
      const { coverage_pct } = reply.body as { coverage_pct: number };
      return [reply.headers.get('x-data-coverage'), coverage_pct];
    };
    const from = `partial; from=${isoTime(NOON - 30 * HOUR)}; gaps=1`;
    expect(await coverageOf({})).toEqual([from, 87.5]);
    expect(await coverageOf({ window_seconds: 4 * 3_600 })).toEqual([from, 75]);
    expect(await coverageOf({ window_seconds: 2 * 3_600 })).toEqual(['complete', 0]);
    await takeAll(ingest, [[numbered(3n, 4)]]);
    await applied(ingest);
    expect(await coverageOf({})).toEqual(['complete', 100]);
    expect(await coverageOf({ window_seconds: 31 * 3_600 })).toEqual([
      `partial; from=${isoTime(NOON - 30 * HOUR)}; gaps=0`,
      80.645161,
    ]);
  });
});
