import type { QuoteFacts, ReviseBody } from '../commands.js';
import type { AuctionEventBody } from '../events.js';
import { holdOf } from '../held.js';
import type { Need } from '../holds.js';
import { checkOpen, checkReference, standingQuote } from './open-check.js';
import { needOf, type QuoteDraft } from './plan-submit.js';
import { checkExpiry, checkQuoteTerms } from './quote-terms.js';
import { conflict, rejected, type Rejection } from '#libs/base/rejection.js';
import type { AuctionState, Quote } from '../state.js';
import { type Hold, opposite, type Side } from '../terms.js';

export interface PlannedRevision {
  readonly ok: true;
  readonly quote: QuoteDraft;
  readonly keeps_priority: boolean;
  readonly need: Need;
  /** What the quote holds until the revision takes effect. */
  readonly current: readonly Hold[];
}

export function planRevise(
  state: AuctionState,
  quoteId: string,
  body: ReviseBody,
  facts: QuoteFacts,
): PlannedRevision | Rejection {
  const { terms } = state;
  const notOpen = checkOpen(state, facts.now);
  if (notOpen !== undefined) return notOpen;
  const quote = standingQuote(state, quoteId, facts.now);
  if (quote?.maker !== facts.maker)
    return rejected('QUOTE_NOT_REVISABLE', 'The quote is not active any more.');
  if (terms.quote_revision_policy === 'FINAL') {
    return rejected('QUOTE_NOT_REVISABLE', 'Quotes of this auction are final.');
  }
  if (body.expected_revision !== quote.revision) {
    return conflict('quote_revision_conflict', `The quote is at revision ${quote.revision}.`);
  }
  const revised = applied(quote, body);
  const refusal =
    facts.policy ??
    checkQuoteTerms(terms, revised) ??
    checkExpiry(terms, body.expires_at, facts.now) ??
    checkReference(body.client_reference) ??
    (terms.quote_revision_policy === 'IMPROVE_ONLY'
      ? checkImproves(opposite(terms.side), quote, revised)
      : undefined);
  if (refusal !== undefined) return refusal;
  return {
    ok: true,
    quote: revised,
    keeps_priority:
      revised.price_atoms === quote.price_atoms && revised.quantity_atoms <= quote.quantity_atoms,
    need: needOf(terms, revised.price_atoms, revised.quantity_atoms),
    current: holdOf(quote),
  };
}

function applied(quote: Quote, body: ReviseBody): QuoteDraft {
  const expiresAt = body.expires_at ?? quote.expires_at;
  const reference = body.client_reference ?? quote.client_reference;
  return {
    quote_id: quote.quote_id,
    maker: quote.maker,
    revision: quote.revision + 1,
    price_atoms: body.price_atoms ?? quote.price_atoms,
    quantity_atoms: body.quantity_atoms ?? quote.quantity_atoms,
    min_quantity_atoms: body.min_quantity_atoms ?? quote.min_quantity_atoms,
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
    ...(reference === undefined ? {} : { client_reference: reference }),
    submitted_at: quote.submitted_at,
  };
}

/** An improvement for the originator: a better price or a larger quantity, and nothing worse. */
function checkImproves(makerSide: Side, before: Quote, after: QuoteDraft): Rejection | undefined {
  const gain =
    makerSide === 'SELL' ? before.price_atoms - after.price_atoms : after.price_atoms - before.price_atoms;
  const growth = after.quantity_atoms - before.quantity_atoms;
  const stricter = after.min_quantity_atoms > before.min_quantity_atoms;
  if (gain < 0 || growth < 0 || stricter || (gain === 0 && growth === 0)) {
    return rejected(
      'REVISION_NOT_IMPROVING',
      'A revision must better the price or the size and worsen neither.',
    );
  }
  return undefined;
}

export function revised(plan: PlannedRevision, hold: readonly Hold[]): AuctionEventBody {
  return {
    type: 'QUOTE_REVISED',
    data: { quote: { ...plan.quote, hold }, keeps_priority: plan.keeps_priority },
  };
}
