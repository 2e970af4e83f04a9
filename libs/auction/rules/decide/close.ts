import { completed, decideCompletion } from '../completion.js';
import type { Decided } from '../decided.js';
import type { AwardTerms, NotAwardedReason } from '../events.js';
import { holdOf } from '../held.js';
import { assetOf, holdFor, type Need } from '../holds.js';
import { type Instant, plusMillis } from '#libs/base/instant.js';
import { activeQuotes, type AuctionState, type Quote } from '../state.js';
import { type Hold, opposite, type Route, type Terms } from '../terms.js';
import { award, type Fill, rank } from '../winner-rule.js';

export interface CloseFacts {
  /** The id for the award of a quote. */
  readonly awardId: (quoteId: string) => string;
}

/**
 * The close and the result of the winner rule. Every event bears `closes_at`, so that the time of the decision
 * discloses nothing. An auction found CLOSED gets the events it still lacks, but no second decision.
 */
export function decideClose(state: AuctionState, facts: CloseFacts): readonly Decided[] {
  const at = state.terms.closes_at;
  if (state.not_awarded_reason !== undefined) return decideCompletion(state);
  if (state.status === 'CLOSED') return outcome(state, activeQuotes(state), facts);
  if (state.status !== 'OPEN') return [];
  const expiries = decideExpiries(state, at);
  const active = activeQuotes(state).filter(
    (quote) => quote.expires_at === undefined || quote.expires_at > at,
  );
  return [...expiries, { at, body: { type: 'AUCTION_CLOSED', data: {} } }, ...outcome(state, active, facts)];
}

function outcome(state: AuctionState, active: readonly Quote[], facts: CloseFacts): Decided[] {
  const { terms } = state;
  const at = terms.closes_at;
  const ranked = rank(terms, active);
  const fills = award(terms, ranked);
  if (fills.length === 0) {
    const reason = reasonFor(active, ranked);
    return [{ at, body: { type: 'AUCTION_NOT_AWARDED', data: { reason } } }, completed(at, 'NO_AWARD')];
  }
  const data = {
    awards: awardsOf(terms, holdOf(state), fills, facts),
    execution_deadline: plusMillis(at, terms.execution_deadline_ms),
  };
  return [{ at, body: { type: 'AUCTION_AWARDED', data } }];
}

function reasonFor(active: readonly Quote[], ranked: readonly Quote[]): NotAwardedReason {
  if (active.length === 0) return 'NO_QUOTES';
  return ranked.length === 0 ? 'RESERVE_NOT_MET' : 'MINIMUM_NOT_MET';
}

/** The originator's outcome tokens go to the awards in the order of the ranking. */
function awardsOf(
  terms: Terms,
  hold: readonly Hold[],
  fills: readonly Fill<Quote>[],
  facts: CloseFacts,
): AwardTerms[] {
  let left = hold;
  return fills.map(({ quote, quantity_atoms: quantity }) => {
    const originatorHold = kept(terms, terms.side, quote.price_atoms, quantity, left);
    left = lessTokens(left, originatorHold);
    return {
      award_id: facts.awardId(quote.quote_id),
      quote_id: quote.quote_id,
      maker: quote.maker,
      price_atoms: quote.price_atoms,
      quantity_atoms: quantity,
      maker_hold: kept(terms, opposite(terms.side), quote.price_atoms, quantity, holdOf(quote)),
      originator_hold: originatorHold,
    };
  });
}

/** The part of a hold that one award needs. */
function kept(
  terms: Terms,
  side: Need['side'],
  price: number,
  quantity: number,
  hold: readonly Hold[],
): readonly Hold[] {
  const need: Need = { side, routes: terms.routes, price_atoms: price, quantity_atoms: quantity, parts: 1 };
  return holdFor(need, (route) => tokensIn(hold, route));
}

export function tokensIn(
  hold: readonly Hold[],
  route: Pick<Route, 'venue' | 'contract_id' | 'outcome'>,
): number {
  const asset = assetOf(route);
  const tokens = hold.find(
    (one) => one.resource === 'OUTCOME_TOKEN' && one.venue === route.venue && one.asset === asset,
  );
  return tokens?.amount ?? 0;
}

function lessTokens(hold: readonly Hold[], used: readonly Hold[]): readonly Hold[] {
  return hold.map((one) => {
    if (one.resource !== 'OUTCOME_TOKEN') return one;
    const taken = used.find(
      (other) => other.resource === 'OUTCOME_TOKEN' && other.venue === one.venue && other.asset === one.asset,
    );
    return taken === undefined ? one : { ...one, amount: one.amount - taken.amount };
  });
}

type Expiring = Quote & { readonly expires_at: Instant };

/** Active quotes that have expired at `now`, in the order of their expiry. */
export function decideExpiries(state: AuctionState, now: Instant): readonly Decided[] {
  return activeQuotes(state)
    .filter((quote): quote is Expiring => quote.expires_at !== undefined && quote.expires_at <= now)
    .sort((a, b) =>
      a.expires_at === b.expires_at ? a.priority - b.priority : a.expires_at < b.expires_at ? -1 : 1,
    )
    .map(({ expires_at: at, quote_id, maker }) => ({
      at,
      body: { type: 'QUOTE_EXPIRED', data: { quote_id, maker } },
    }));
}
