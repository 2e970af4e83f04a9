import type { AuctionFile, FiledQuote } from '../auction-file.js';
import type { Shown } from './shown.js';

/** What the maker of a losing quote may learn: what `result_disclosure` grants, and no more. */
export function lossOf(file: AuctionFile, quoteId: string): Shown {
  const { result_disclosure: disclosure } = file.terms;
  const prices = [...file.awards.values()].map(({ terms }) => terms.price_atoms);
  const worst = file.terms.side === 'BUY' ? Math.max(...prices) : Math.min(...prices);
  const isPriceTold = disclosure !== 'OWN_RESULT' && prices.length > 0;
  return {
    reason: prices.length > 0 ? 'NOT_SELECTED' : 'NO_AWARD',
    rank: disclosure === 'WINNING_PRICE_AND_RANK' ? rankOf(file, quoteId) : undefined,
    winning_price_atoms: isPriceTold ? worst : undefined,
  };
}

/** One more than the number of better quotes within the reserve; undefined for a quote beyond the reserve. */
function rankOf({ terms, quotes }: AuctionFile, quoteId: string): number | undefined {
  const isBuy = terms.side === 'BUY';
  const reserve = terms.limit_price_atoms ?? (isBuy ? Infinity : 0);
  const counted = [...quotes.values()].filter(({ status, price }) => {
    return status === 'JUDGED' && (isBuy ? price <= reserve : price >= reserve);
  });
  const own = counted.find(({ id }) => id === quoteId);
  if (own === undefined) return undefined;
  const isBetter = ({ price, priority }: FiledQuote): boolean => {
    if (price === own.price) return priority < own.priority;
    return isBuy ? price < own.price : price > own.price;
  };
  return 1 + counted.filter(isBetter).length;
}
