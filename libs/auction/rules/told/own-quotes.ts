import { winnerAsSeenByOriginator, type PartyView } from './party-view.js';
import { quoteView, quoteViewForOthers, type QuoteView } from './quote-view.js';
import { bookOf, findQuote, type AuctionState } from '../state.js';
import type { Viewer } from './viewer.js';

/** An awarded quote as the originator sees it: without what its maker noted for itself, and with whose it is. */
export type AwardedQuoteView = Omit<QuoteView, 'client_reference'> & { readonly market_maker: PartyView };

/** A maker's own quotes, newest first; to the originator the awarded ones in the order of the awards, once there are any. */
export function quotesFor(state: AuctionState, viewer: Viewer): readonly (QuoteView | AwardedQuoteView)[] {
  return viewer.role === 'ORIGINATOR' ? awardedQuotes(state) : ownQuotes(state, viewer.account_id);
}

function ownQuotes(state: AuctionState, maker: string): QuoteView[] {
  return (bookOf(state, maker)?.quotes ?? []).map((quote) => quoteView(state, quote)).reverse();
}

function awardedQuotes(state: AuctionState): AwardedQuoteView[] {
  return state.awards.flatMap((award) => {
    const quote = findQuote(state, award.quote_id);
    if (quote === undefined) return [];
    return [
      { ...quoteViewForOthers(state, quote), market_maker: winnerAsSeenByOriginator(state, award.maker) },
    ];
  });
}
