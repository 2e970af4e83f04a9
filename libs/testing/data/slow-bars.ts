import { createHash } from 'node:crypto';
import type { JournaledMarketData } from '#libs/data/rules/event-codec.js';
import type { TradeEvent } from '#libs/data/rules/events.js';

export interface SlowAsk {
  readonly market: string;
  readonly outcome: number;
  readonly timeframe: number;
  /** Microseconds. */
  readonly start: number;
  readonly end: number;
}

export interface SlowBar {
  readonly bucket_start: string;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number;
}

const LOOKBACK_DAYS: Readonly<Record<number, bigint>> = {
  ...{ 1: 1n, 60: 30n, 300: 90n, 900: 180n, 3600: 365n, 14400: 365n, 86400: 730n },
};
const DAY = 86_400_000_000n;

/** The trades that count, each once, in order. */
export function slowTradesOf(events: readonly JournaledMarketData[], market: string): TradeEvent[] {
  const busted = new Set<string>();
  const trades = new Map<string, TradeEvent>();
  for (const event of events) {
    if (event.type === 'TRADE_BUST') busted.add(event.trade_source_id);
    if (event.type === 'TRADE' && event.market_id === market) trades.set(event.source_id, event);
  }
  const hashed = (id: string): bigint =>
    createHash('sha256').update(id).digest().readBigUInt64BE() % 2n ** 63n;
  const keyOf = ({ source_ts, seq, source_id }: TradeEvent): Buffer =>
    Buffer.concat([
      Buffer.from(
        [source_ts, seq ?? hashed(source_id)].map((part) => String(part).padStart(20, '0')).join(' '),
      ),
      Buffer.from(source_id),
    ]);
  return [...trades.values()]
    .filter(({ source_id }) => !busted.has(source_id))
    .sort((one, other) => Buffer.compare(keyOf(one), keyOf(other)));
}

/**
 * The bars that a caller must be shown, computed in the slowest way and without the rules of the service: it goes through all
 * trades for every bucket.
 */
export function slowBars(
  events: readonly JournaledMarketData[],
  { market, outcome, timeframe, start, end }: SlowAsk,
  { now, isSingleBook }: { readonly now: number; readonly isSingleBook: boolean },
): SlowBar[] {
  const span = BigInt(timeframe) * 1_000_000n;
  const seen = BigInt(now);
  let to = BigInt(end) < seen ? BigInt(end) : seen;
  while (to % span !== 0n) to += span - (to % span);
  if (timeframe === 1 && seen - to > DAY) return [];
  const earliest = to - (LOOKBACK_DAYS[timeframe] ?? 0n) * DAY;
  let from = BigInt(start) > earliest ? BigInt(start) : earliest;
  from -= from % span;
  const trades = slowTradesOf(events, market).filter(
    ({ outcome_index }) => isSingleBook || outcome_index === outcome,
  );
  const priceOf = ({ outcome_index, price }: TradeEvent): number =>
    outcome_index === outcome ? price : 1_000_000 - price;
  const buckets = new Set(trades.map(({ source_ts }) => BigInt(source_ts) - (BigInt(source_ts) % span)));
  return [...buckets]
    .filter((bucket) => bucket >= from && bucket < to)
    .sort((one, other) => Number(one - other))
    .map((bucket) => {
      const inside = trades.filter(
        ({ source_ts }) => BigInt(source_ts) >= bucket && BigInt(source_ts) < bucket + span,
      );
      const prices = inside.map((trade) => priceOf(trade) / 10_000);
      const atoms = inside.reduce((sum, { size }) => sum + size, 0n);
      return {
        bucket_start: new Date(Number(bucket / 1_000n)).toISOString().replace('.000Z', 'Z'),
        ...{ open: prices[0] ?? NaN, high: Math.max(...prices), low: Math.min(...prices) },
        ...{ close: prices.at(-1) ?? NaN, volume: Number((atoms - (atoms % 1_000_000n)) / 1_000_000n) },
      };
    });
}
