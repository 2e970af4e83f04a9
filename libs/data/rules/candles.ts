import { comparePlaces, type EventPlace } from './order.js';
import { FULL_PRICE, MILLION } from './scales.js';
import { ceilTo, floorTo, MICROS_PER_SECOND } from './times.js';

const DAY = 86_400;

/** By timeframe in seconds: how far before `end` a window may begin. */
export const LOOKBACK_SECONDS = {
  1: DAY,
  60: 30 * DAY,
  300: 90 * DAY,
  900: 180 * DAY,
  3_600: 365 * DAY,
  14_400: 365 * DAY,
  86_400: 730 * DAY,
} as const;

export type Timeframe = keyof typeof LOOKBACK_SECONDS;
export type StoredTimeframe = 60 | 3_600 | 86_400;

/** The stored timeframe that each timeframe is made from. Candles of one second are made from trades. */
export const MADE_FROM: Readonly<Record<Exclude<Timeframe, 1>, StoredTimeframe>> = {
  60: 60,
  300: 60,
  900: 60,
  3_600: 3_600,
  14_400: 3_600,
  86_400: 86_400,
};

/** The buckets that begin at or after `start` and before `end`. */
export interface CandleWindow {
  readonly start: number;
  readonly end: number;
}

/** The limit for all items of a batch together. */
export const MOST_ESTIMATED_BARS = 400_000;

/** How old the end of a window of one-second candles may be. */
const ONE_SECOND_KEPT = DAY * MICROS_PER_SECOND;

export function isTimeframe(seconds: number): seconds is Timeframe {
  return Object.hasOwn(LOOKBACK_SECONDS, seconds);
}

/** The order of the steps is part of the contract. Undefined if `end` is not after `start`. */
export function clampedWindow(
  requested: CandleWindow,
  timeframe: Timeframe,
  now: number,
): CandleWindow | undefined {
  if (requested.end <= requested.start) return undefined;
  const span = timeframe * MICROS_PER_SECOND;
  const end = ceilTo(Math.min(requested.end, now), span);
  const earliest = end - LOOKBACK_SECONDS[timeframe] * MICROS_PER_SECOND;
  return { start: floorTo(Math.max(requested.start, earliest), span), end };
}

/** Whether a clamped window has nothing to read. */
export function isEmptyWindow({ start, end }: CandleWindow, timeframe: Timeframe, now: number): boolean {
  return start >= end || (timeframe === 1 && now - end > ONE_SECOND_KEPT);
}

/** The number of bars in a clamped window, as a batch counts them. */
export function estimatedBars(window: CandleWindow, timeframe: Timeframe, now: number): number {
  if (isEmptyWindow(window, timeframe, now)) return 0;
  return (window.end - window.start) / (timeframe * MICROS_PER_SECOND);
}

/** A candle as readers see it. Only buckets with trades have one. */
export interface Bar {
  readonly bucket: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: bigint;
}

/** Keeps the positions of its first and last trade, so that the order of arrival does not matter. */
export interface Candle extends Bar {
  readonly trades: number;
  readonly opened: EventPlace;
  readonly closed: EventPlace;
}

/** The fields of a trade that candles need. */
export interface PricedTrade extends EventPlace {
  readonly outcome_index: number;
  readonly price: number;
  readonly size: bigint;
}

export function bucketOf(micros: number, timeframe: Timeframe): number {
  return floorTo(micros, timeframe * MICROS_PER_SECOND);
}

/** Makes candles from distinct trades of one series, in any order. Busted trades must be left out. Ascending. */
export function candlesOf(trades: Iterable<PricedTrade>, timeframe: Timeframe): Candle[] {
  return mergedByBucket(asCandles(trades), timeframe);
}

function* asCandles(trades: Iterable<PricedTrade>): Iterable<Candle> {
  for (const { source_ts, seq, source_id, price, size } of trades) {
    const position = { source_ts, seq, source_id };
    yield {
      ...{ bucket: source_ts, open: price, high: price, low: price, close: price },
      ...{ volume: size, trades: 1, opened: position, closed: position },
    };
  }
}

/** Merges candles of a finer timeframe, or parts of the same buckets. Ascending. */
export function mergedByBucket(candles: Iterable<Candle>, timeframe: Timeframe): Candle[] {
  const merged = new Map<number, Candle>();
  for (const candle of candles) {
    const bucket = bucketOf(candle.bucket, timeframe);
    const known = merged.get(bucket);
    merged.set(bucket, known === undefined ? { ...candle, bucket } : mergedCandle(known, candle));
  }
  return [...merged.values()].sort((left, right) => left.bucket - right.bucket);
}

/** Merges two candles without common trades, in either order. The bucket is that of the first. */
export function mergedCandle(one: Candle, other: Candle): Candle {
  const opening = comparePlaces(one.opened, other.opened) <= 0 ? one : other;
  const closing = comparePlaces(one.closed, other.closed) >= 0 ? one : other;
  return {
    bucket: one.bucket,
    open: opening.open,
    high: Math.max(one.high, other.high),
    low: Math.min(one.low, other.low),
    close: closing.close,
    volume: one.volume + other.volume,
    trades: one.trades + other.trades,
    opened: opening.opened,
    closed: closing.closed,
  };
}

/** The candle of outcome 1 in a single-book market. */
export function mirroredCandle<T extends Bar>(candle: T): T {
  return {
    ...candle,
    open: mirroredPrice(candle.open),
    high: mirroredPrice(candle.low),
    low: mirroredPrice(candle.high),
    close: mirroredPrice(candle.close),
  };
}

export function mirroredPrice(price: number): number {
  return FULL_PRICE - price;
}

/** In a single-book market, the trade in terms of outcome 0. Its size stays the same. */
export function onSingleBook<T extends PricedTrade>(trade: T): T {
  return trade.outcome_index === 0
    ? trade
    : { ...trade, outcome_index: 0, price: mirroredPrice(trade.price) };
}

/** As candles show volume: whole contracts. */
export function wholeContracts(volume: bigint): number {
  return Number(volume / MILLION);
}
