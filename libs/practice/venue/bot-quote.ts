import type { PriceGrid } from '../matching/grid.js';
import { isOnGrid } from '../matching/grid.js';
import { ONE_DOLLAR, type NewOrder, type OutcomeIndex, type PriceMicros } from '../matching/order-book.js';

/** The bots' account at every venue. It has unlimited money, and its orders appear in no list. */
export const BOTS = 'bots';
const LEVELS = 10;
const SHARES_A_LEVEL = 100_000_000;

/** `one`: a single book for both outcomes. `a-side`: a book for each outcome, where asks are sales of shares. */
export type BookStyle = 'one' | 'a-side';

type Quote = Pick<NewOrder, 'outcome' | 'side' | 'price' | 'size'>;

/** Ten levels on each side of a price of the first outcome. The size grows with the distance. */
export function botQuote(grid: PriceGrid, style: BookStyle, middle: PriceMicros): readonly Quote[] {
  const quotes: Quote[] = [];
  for (const direction of [-1, 1] as const) {
    let price = middle;
    for (let level = 1; level <= LEVELS; level += 1) {
      price += direction * stepAt(grid, price);
      if (price <= 0 || price >= ONE_DOLLAR || !isOnGrid(grid, price)) break;
      const size = level * SHARES_A_LEVEL;
      if (direction < 0) quotes.push({ outcome: 0, side: 'buy', price, size });
      else quotes.push({ outcome: 1, side: 'buy', price: ONE_DOLLAR - price, size });
      if (style === 'one') continue;
      const outcome: OutcomeIndex = direction < 0 ? 1 : 0;
      quotes.push({ outcome, side: 'sell', price: outcome === 0 ? price : ONE_DOLLAR - price, size });
    }
  }
  return quotes;
}

function stepAt({ bands }: PriceGrid, price: PriceMicros): PriceMicros {
  return bands.findLast(({ start }) => start <= price)?.step ?? ONE_DOLLAR;
}
