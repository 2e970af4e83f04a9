import { isFresh, liquidityOf, midPrice, mirroredBook, type BookState } from './books.js';
import { mirroredPrice } from './candles.js';
import { payoutsOf, type FoldedMarket } from './markets.js';
import { seriesOf } from './outcomes.js';

/** The price of an outcome wherever it is not the price of a trade. */
export interface ReferencePrice {
  readonly price: number;
  readonly source: 'payout' | 'mid' | 'last';
}

/** The data of an outcome's series: on a single book, always that of outcome 0. */
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
  const ofOutcome = (price: number): number => (isMirrored ? mirroredPrice(price) : price);
  const mid = book !== undefined && isFresh(book, now) ? midPrice(book) : undefined;
  if (mid !== undefined) return { price: ofOutcome(mid), source: 'mid' };
  return last === undefined ? null : { price: ofOutcome(last), source: 'last' };
}

/** In micro-dollars; null without a fresh two-sided book. */
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
