import type { QuoteFacts, SubmitBody } from '../commands.js';
import type { AuctionEventBody, QuoteTerms } from '../events.js';
import type { Need } from '../holds.js';
import type { Atoms } from '#libs/base/money.js';
import { checkOpen, checkReference, standingQuoteOf } from './open-check.js';
import { checkExpiry, checkQuoteTerms } from './quote-terms.js';
import { conflict, type Rejection } from '#libs/base/rejection.js';
import type { AuctionState } from '../state.js';
import { type Hold, opposite, type Terms } from '../terms.js';

export type QuoteDraft = Omit<QuoteTerms, 'hold'>;

export interface PlannedSubmit {
  readonly ok: true;
  readonly quote: QuoteDraft;
  readonly need: Need;
}

export function planSubmit(
  state: AuctionState,
  body: SubmitBody,
  facts: QuoteFacts & { readonly quote_id: string },
): PlannedSubmit | Rejection {
  const { terms } = state;
  const refusal =
    checkOpen(state, facts.now) ??
    facts.policy ??
    checkQuoteTerms(terms, body) ??
    checkExpiry(terms, body.expires_at, facts.now) ??
    checkReference(body.client_reference);
  if (refusal !== undefined) return refusal;
  if (standingQuoteOf(state, facts.maker, facts.now) !== undefined) {
    return conflict('quote_already_active', 'You have an active quote in this auction; revise it instead.');
  }
  const quote: QuoteDraft = {
    quote_id: facts.quote_id,
    maker: facts.maker,
    revision: 1,
    price_atoms: body.price_atoms,
    quantity_atoms: body.quantity_atoms,
    min_quantity_atoms: body.min_quantity_atoms ?? terms.grid.quantity_step_atoms,
    ...(body.expires_at === undefined ? {} : { expires_at: body.expires_at }),
    ...(body.client_reference === undefined ? {} : { client_reference: body.client_reference }),
    submitted_at: facts.now,
  };
  return { ok: true, quote, need: needOf(terms, quote.price_atoms, quote.quantity_atoms) };
}

/** A quote wins at most one award, so its cost is rounded once. */
export function needOf(terms: Terms, price: Atoms, quantity: Atoms): Need {
  return {
    side: opposite(terms.side),
    routes: terms.routes,
    price_atoms: price,
    quantity_atoms: quantity,
    parts: 1,
  };
}

export function submitted(quote: QuoteDraft, hold: readonly Hold[], connectionId?: string): AuctionEventBody {
  const data = { quote: { ...quote, hold } };
  return {
    type: 'QUOTE_SUBMITTED',
    data: connectionId === undefined ? data : { ...data, connection_id: connectionId },
  };
}
