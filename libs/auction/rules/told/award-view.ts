import { type Atoms, averagePrice } from '#libs/base/money.js';
import { type AuctionState, bookOf, type ExecutionStatus, findQuote } from '../state.js';
import { awardOf, type Viewer } from './viewer.js';
import { quoteView, type QuoteView, quoteViewForOthers } from './quote-view.js';
import type { Party } from '../terms.js';

/** A maker's own award, as the maker sees it. */
export interface OwnAwardView {
  readonly award_id: string;
  readonly price_atoms: Atoms;
  readonly quantity_atoms: Atoms;
  readonly execution_status: ExecutionStatus;
}

/** All awards as the originator sees them, in the order of the ranking. */
export interface AwardView {
  readonly quantity_atoms: Atoms;
  readonly average_price_atoms: Atoms;
  readonly awards: readonly AwardRow[];
}

export interface AwardRow {
  readonly award_id: string;
  readonly market_maker: PartyView;
  readonly price_atoms: Atoms;
  readonly quantity_atoms: Atoms;
  readonly execution_status: ExecutionStatus;
}

export function ownAwardView(state: AuctionState, maker: string): OwnAwardView | undefined {
  const award = awardOf(state, maker);
  if (award === undefined) return undefined;
  const { award_id, price_atoms, quantity_atoms, execution_status } = award;
  return { award_id, price_atoms, quantity_atoms, execution_status };
}

export function awardView(state: AuctionState): AwardView | undefined {
  if (state.awards.length === 0) return undefined;
  const fills = state.awards.map((award) => ({ price: award.price_atoms, quantity: award.quantity_atoms }));
  return {
    quantity_atoms: fills.reduce((sum, fill) => sum + fill.quantity, 0),
    average_price_atoms: averagePrice(fills),
    awards: state.awards.map((award) => ({
      award_id: award.award_id,
      market_maker: winnerAsSeenByOriginator(state, award.maker),
      price_atoms: award.price_atoms,
      quantity_atoms: award.quantity_atoms,
      execution_status: award.execution_status,
    })),
  };
}

/** An awarded quote as the originator sees it: without the maker's private note, with the maker. */
export type AwardedQuoteView = Omit<QuoteView, 'client_reference'> & { readonly market_maker: PartyView };

/**
 * A maker gets its own quotes, newest first. The originator gets the awarded quotes in the order of the awards,
 * none before the award.
 */
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

/** Another party as the viewer may know it: by its alias in this auction, or by name. */
export type PartyView = { readonly alias: string } | { readonly id: string; readonly display_name: string };

export function originatorAsSeenBy(state: AuctionState, maker: string): PartyView {
  const policy = state.terms.identity_policy.originator;
  const won = awardOf(state, maker) !== undefined;
  return partyView(state.terms.originator, policy === 'DISCLOSED' || (policy === 'WINNER_ONLY' && won));
}

/**
 * A winner as the originator sees it. There are no winners before the award, so DISCLOSED_AFTER_AWARD needs no
 * check of time.
 */
export function winnerAsSeenByOriginator(state: AuctionState, maker: string): PartyView {
  const party = state.terms.audience.find((invited) => invited.account_id === maker);
  if (party === undefined) throw new Error('an award went to a maker that was not invited');
  return partyView(party, state.terms.identity_policy.market_makers === 'DISCLOSED_AFTER_AWARD');
}

function partyView(party: Party, disclosed: boolean): PartyView {
  return disclosed ? { id: party.account_id, display_name: party.display_name } : { alias: party.alias };
}
