import { mirroredPrice } from './candles.js';
import type { BookEvent, BookLevel } from './events.js';
import { FULL_PRICE, halfUp, MILLION } from './scales.js';
import { MICROS_PER_SECOND } from './times.js';

/** The state of a book after its newest event. */
export interface BookState {
  readonly sequence: bigint;
  /** The `source_ts` of its newest event. */
  readonly source_ts: number;
  /** The levels are unknown until the next snapshot, because events were missed or the book crossed. */
  readonly isDropped: boolean;
  /** Best first. */
  readonly bids: readonly BookLevel[];
  readonly asks: readonly BookLevel[];
}

/** The two sides of a book; either may be empty. */
export type BookSides = Pick<BookState, 'bids' | 'asks'>;

/** Applies an event. Without a known book, changes do nothing until a snapshot. A live adapter must read a dropped book again. */
export function bookAfter(book: BookState | undefined, event: BookEvent): BookState | undefined {
  const { sequence, source_ts } = event;
  if (event.snapshot) {
    return unlessCrossed({ sequence, source_ts, isDropped: false, ...changed(NO_LEVELS, event) });
  }
  if (book === undefined || book.isDropped || sequence <= book.sequence) return book;
  if (sequence > book.sequence + 1n) return dropped(book);
  const newest = Math.max(book.source_ts, source_ts);
  return unlessCrossed({ sequence, source_ts: newest, isDropped: false, ...changed(book, event) });
}

const NO_LEVELS: BookSides = { bids: [], asks: [] };

function unlessCrossed(book: BookState): BookState {
  const [bid] = book.bids;
  const [ask] = book.asks;
  return bid !== undefined && ask !== undefined && bid.price >= ask.price ? dropped(book) : book;
}

function dropped(book: BookState): BookState {
  return { ...book, ...NO_LEVELS, isDropped: true };
}

function changed(book: BookSides, event: BookEvent): BookSides {
  return {
    bids: withLevels(book.bids, event.bids, (left, right) => right.price - left.price),
    asks: withLevels(book.asks, event.asks, (left, right) => left.price - right.price),
  };
}

function withLevels(
  levels: readonly BookLevel[],
  changes: readonly BookLevel[],
  bestFirst: (left: BookLevel, right: BookLevel) => number,
): readonly BookLevel[] {
  if (changes.length === 0) return levels;
  const sizes = new Map(levels.map(({ price, size }) => [price, size]));
  for (const { price, size } of changes) {
    if (size === 0n) sizes.delete(price);
    else sizes.set(price, size);
  }
  return [...sizes].map(([price, size]) => ({ price, size })).sort(bestFirst);
}

export const STALE_AFTER = 10 * MICROS_PER_SECOND;

/** A stale book is still shown, but gives no price and no liquidity. */
export function isFresh(book: BookState, now: number): boolean {
  return !book.isDropped && now - book.source_ts <= STALE_AFTER;
}

/** The book of outcome 1 in a single-book market: a bid for one outcome is an offer of the other. */
export function mirroredBook<T extends BookSides>(book: T): T {
  return { ...book, bids: book.asks.map(mirroredLevel), asks: book.bids.map(mirroredLevel) };
}

function mirroredLevel({ price, size }: BookLevel): BookLevel {
  return { price: mirroredPrice(price), size };
}

/** Twice the mid, because the mid of an odd sum is not a whole micro-dollar. */
function twiceMid({ bids: [bid], asks: [ask] }: BookSides): number | undefined {
  return bid === undefined || ask === undefined ? undefined : bid.price + ask.price;
}

const WIDEST_SPREAD = FULL_PRICE / 10;

/** Rounded half up. Undefined if a side is empty or the spread is over 10 cents. */
export function midPrice(book: BookSides): number | undefined {
  const twice = twiceMid(book);
  const [bid] = book.bids;
  if (twice === undefined || bid === undefined || twice - 2 * bid.price > WIDEST_SPREAD) return undefined;
  return Math.ceil(twice / 2);
}

const NEAR_MID = FULL_PRICE / 20;

/** Cash within 5 cents of the mid, both sides; undefined without a mid. The caller must check that the book is fresh. */
export function liquidityOf(book: BookSides): bigint | undefined {
  const twice = twiceMid(book);
  if (twice === undefined) return undefined;
  const near = [...book.bids, ...book.asks].filter(
    ({ price }) => Math.abs(2 * price - twice) <= 2 * NEAR_MID,
  );
  return halfUp(
    near.reduce((sum, { price, size }) => sum + BigInt(price) * size, 0n),
    MILLION,
  );
}
