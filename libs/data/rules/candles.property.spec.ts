import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  candlesOf,
  clampedWindow,
  estimatedBars,
  isEmptyWindow,
  isTimeframe,
  LOOKBACK_SECONDS,
  MADE_FROM,
  mergedByBucket,
  mirroredCandle,
  onSingleBook,
  wholeContracts,
  type Candle,
  type CandleWindow,
  type PricedTrade,
  type Timeframe,
} from './candles.js';

const SECOND = 1_000_000;
const DAY = 86_400 * SECOND;
const NOW = 1_795_176_000_000_000;
const TIMEFRAMES: readonly Timeframe[] = [1, 60, 300, 900, 3_600, 14_400, 86_400];
const anyTimeframe = fc.constantFrom(...TIMEFRAMES);

/** Times on boundaries, next to them, and anywhere; often several at one time. */
const anyTime = fc
  .tuple(
    fc.constantFrom(0, 0, 60, 299, 3_600, 14_400, 86_400),
    fc.constantFrom(-1, 0, 1, 500_000),
    fc.constantFrom(0, 0, 1, 59, 60),
  )
  .map(([seconds, off, more]) => NOW - 3 * DAY + seconds * SECOND + off + more * SECOND);
const anyTrade: fc.Arbitrary<PricedTrade> = fc.record({
  source_ts: anyTime,
  seq: fc.bigInt({ min: 0n, max: 3n }),
  source_id: fc.string({ minLength: 1, maxLength: 2 }),
  outcome_index: fc.constantFrom(0, 1),
  price: fc.integer({ min: 0, max: 1_000_000 }),
  size: fc.bigInt({ min: 1n, max: 10n ** 15n }),
});
const anyTrades = fc.uniqueArray(anyTrade, { maxLength: 60, selector: ({ source_id }) => source_id });

/** A slow reference: walks every bucket, sorts its trades and reads the first, the last and the extremes. */
function slowCandles(trades: readonly PricedTrade[], timeframe: number): object[] {
  const span = BigInt(timeframe * SECOND);
  const starts = new Set(trades.map(({ source_ts }) => Number((BigInt(source_ts) / span) * span)));
  return [...starts]
    .sort((a, b) => a - b)
    .map((bucket) => {
      const inside = trades
        .filter(({ source_ts }) => source_ts >= bucket && source_ts < bucket + timeframe * SECOND)
        .map((trade) => ({
          trade,
          key: Buffer.from(
            `${String(trade.source_ts).padStart(20, '0')} ${String(trade.seq).padStart(20, '0')} ${trade.source_id}`,
          ),
        }))
        .sort((a, b) => Buffer.compare(a.key, b.key))
        .map(({ trade }) => trade);
      const prices = inside.map(({ price }) => price).sort((a, b) => a - b);
      return {
        bucket,
        open: inside.at(0)!.price,
        high: prices.at(-1),
        low: prices.at(0),
        close: inside.at(-1)!.price,
        volume: inside.reduce((sum, { size }) => sum + size, 0n),
        trades: inside.length,
      };
    });
}

function shown({ bucket, open, high, low, close, volume, trades }: Candle): object {
  return { bucket, open, high, low, close, volume, trades };
}

/** As a store does it: drops repeated trades, leaves out busted ones, and merges the rest in batches. */
function ingested(
  deliveries: readonly PricedTrade[],
  busted: ReadonlySet<string>,
  batch: number,
  timeframe: Timeframe,
): Candle[] {
  const known = new Set<string>();
  let candles: Candle[] = [];
  for (let at = 0; at < deliveries.length; at += batch) {
    const news = deliveries.slice(at, at + batch).filter(({ source_id: id }) => {
      const isNew = !known.has(id) && !busted.has(id);
      known.add(id);
      return isNew;
    });
    candles = mergedByBucket([...candlesOf(news, timeframe), ...candles], timeframe);
  }
  return candles;
}

describe('candles', () => {
  it('follow from the trades, however these are shuffled, repeated, split and busted', () => {
    fc.assert(
      fc.property(
        anyTrades.chain((trades) =>
          fc.record({
            trades: fc.constant(trades),
            deliveries: fc
              .tuple(fc.subarray(trades), fc.shuffledSubarray(trades, { minLength: trades.length }))
              .chain(([again, all]) =>
                fc.shuffledSubarray([...again, ...all], { minLength: again.length + all.length }),
              ),
            busted: fc.subarray(trades.map(({ source_id }) => source_id)),
          }),
        ),
        fc.integer({ min: 1, max: 9 }),
        anyTimeframe,
        ({ trades, deliveries, busted }, batch, timeframe) => {
          const gone = new Set(busted);
          const kept = trades.filter(({ source_id }) => !gone.has(source_id));
          const got = ingested(deliveries, gone, batch, timeframe).map(shown);
          expect(got).toEqual(slowCandles(kept, timeframe));
        },
      ),
      { numRuns: 300 },
    );
  });

  it.each(TIMEFRAMES.filter((timeframe) => timeframe !== 1))(
    'of %d seconds made from stored candles equal those made from the trades',
    (timeframe) => {
      fc.assert(
        fc.property(anyTrades, (trades) => {
          const stored = candlesOf(trades, MADE_FROM[timeframe]);
          expect(mergedByBucket(stored, timeframe)).toEqual(candlesOf(trades, timeframe));
        }),
        { numRuns: 50 },
      );
    },
  );

  it('of outcome 1 on a single book are those of the trades at 1 minus their price', () => {
    fc.assert(
      fc.property(anyTrades, anyTimeframe, (trades, timeframe) => {
        const mirror = trades.map((trade) => ({
          ...trade,
          price: trade.outcome_index === 1 ? trade.price : 1_000_000 - trade.price,
        }));
        const got = candlesOf(trades.map(onSingleBook), timeframe).map(mirroredCandle).map(shown);
        expect(got).toEqual(slowCandles(mirror, timeframe));
      }),
      { numRuns: 50 },
    );
  });

  it('do not count a match twice: the volume is that of one side', () => {
    const trade = {
      source_ts: NOW,
      seq: 1n,
      source_id: 'a',
      outcome_index: 1,
      price: 400_000,
      size: 2_999_999n,
    };
    const [candle] = candlesOf([onSingleBook(trade)], 60);
    expect(candle).toMatchObject({ open: 600_000, volume: 2_999_999n, trades: 1 });
    expect(wholeContracts(candle!.volume)).toBe(2);
  });

  it('begin a new bucket with a trade on its boundary', () => {
    const trade = { source_ts: NOW, seq: 1n, source_id: 'a', outcome_index: 0, price: 1, size: 1n };
    const buckets = candlesOf([trade, { ...trade, source_id: 'b', source_ts: NOW - 1 }], 60);
    expect(buckets.map(({ bucket }) => bucket)).toEqual([NOW - 60 * SECOND, NOW]);
  });
});

describe('windows', () => {
  const anyAsked = fc.record({
    timeframe: anyTimeframe,
    start: fc.integer({ min: NOW - 900 * DAY, max: NOW + 3 * DAY }),
    length: fc.oneof(fc.integer({ min: -DAY, max: 800 * DAY }), fc.integer({ min: -5, max: 200 * SECOND })),
    off: fc.constantFrom(0, 1, 30 * SECOND + 1, 12 * 3_600 * SECOND),
  });

  /** A reference in whole microseconds, with a loop where the rule says "multiple". */
  function slowWindow(requested: CandleWindow, timeframe: Timeframe, now: number): CandleWindow | undefined {
    const span = BigInt(timeframe) * 1_000_000n;
    let [start, end] = [BigInt(requested.start), BigInt(requested.end)];
    if (end <= start) return undefined;
    if (end > BigInt(now)) end = BigInt(now);
    if (end % span !== 0n) end = (end / span + 1n) * span;
    const days = { 1: 1, 60: 30, 300: 90, 900: 180, 3_600: 365, 14_400: 365, 86_400: 730 }[timeframe];
    const least = end - BigInt(days) * 86_400_000_000n;
    if (start < least) start = least;
    start = (start / span) * span;
    return { start: Number(start), end: Number(end) };
  }

  it('are clamped in the order of the contract, and have as many buckets as a batch estimates', () => {
    fc.assert(
      fc.property(anyAsked, ({ timeframe, start, length, off }) => {
        const now = NOW + off;
        const requested = { start, end: start + length };
        const window = clampedWindow(requested, timeframe, now);
        expect(window).toEqual(slowWindow(requested, timeframe, now));
        if (window === undefined) return;
        const isOld = timeframe === 1 && now - window.end > DAY;
        expect(isEmptyWindow(window, timeframe, now)).toBe(isOld || window.start >= window.end);
        let bars = 0;
        if (!isOld && window.end - window.start < 3_000 * timeframe * SECOND) {
          for (let at = window.start; at < window.end; at += timeframe * SECOND) bars += 1;
          expect(estimatedBars(window, timeframe, now)).toBe(bars);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('include the forming bucket', () => {
    const window = clampedWindow({ start: NOW - DAY, end: NOW + DAY }, 3_600, NOW + 1);
    expect(window).toEqual({ start: NOW - DAY, end: NOW + 3_600 * SECOND });
  });

  it('that begin in the future are empty', () => {
    const window = clampedWindow({ start: NOW + DAY, end: NOW + 2 * DAY }, 60, NOW);
    expect(window && isEmptyWindow(window, 60, NOW)).toBe(true);
    expect(window && estimatedBars(window, 60, NOW)).toBe(0);
  });

  it.each([
    [0, false],
    [1, true],
  ])('of one-second candles that ended 24 h and %d microseconds ago are empty: %s', (more, isEmpty) => {
    const window = { start: NOW - DAY - SECOND, end: NOW - DAY };
    expect(isEmptyWindow(window, 1, NOW + more)).toBe(isEmpty);
    expect(estimatedBars(window, 1, NOW + more)).toBe(isEmpty ? 0 : 1);
  });

  it('exist for seven timeframes', () => {
    expect(TIMEFRAMES.every(isTimeframe)).toBe(true);
    expect([0, 2, 1.5, 61, -60, NaN].some(isTimeframe)).toBe(false);
    expect(Object.keys(LOOKBACK_SECONDS)).toHaveLength(TIMEFRAMES.length);
  });
});
