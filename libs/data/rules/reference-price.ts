import { isFresh, liquidityOf, midPrice, mirroredBook, type BookState } from './books.js';
import { mirroredPrice } from './candles.js';
import { payoutsOf, type FoldedMarket } from './markets.js';
import { seriesOf } from './outcomes.js';

/** What an outcome costs, wherever that is not the price of a trade. */
export interface ReferencePrice {
  readonly price: number;
  readonly source: 'payout' | 'mid' | 'last';
}

/** Of the series of an outcome: on a single book that of outcome 0, whichever outcome is asked for. */
export interface SeriesNow {
  readonly book?: BookState | undefined;
  /** The price of its last trade, in the order of trades. */
  readonly last?: number | undefined;
}

export function referencePrice(
  market: FoldedMarket,
  outcomeIndex: number,
  { book, last }: SeriesNow,
  now: number,
): ReferencePrice | null {
  const payout = payoutsOf(market)?.[outcomeIndex];
  if (payout !== undefined) return { price: payout, source: 'payout' };
  const { isMirrored } = seriesOf(market.provider, outcomeIndex);
  const asAsked = (price: number): number => (isMirrored ? mirroredPrice(price) : price);
  const mid = book !== undefined && isFresh(book, now) ? midPrice(book) : undefined;
  if (mid !== undefined) return { price: asAsked(mid), source: 'mid' };
  return last === undefined ? null : { price: asAsked(last), source: 'last' };
}

/** In micro-dollars; null without a fresh book that has both sides. */
export function outcomeLiquidity(
  market: FoldedMarket,
  outcomeIndex: number,
  { book }: SeriesNow,
  now: number,
): bigint | null {
  if (book === undefined || !isFresh(book, now)) return null;
  const { isMirrored } = seriesOf(market.provider, outcomeIndex);
  return liquidityOf(isMirrored ? mirroredBook(book) : book) ?? null;
}
