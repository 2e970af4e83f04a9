import type { ReviseBody } from '../commands.js';
import type { AuctionEvent, QuoteTerms } from '../events.js';
import { planRevise } from '../decide/plan-revise.js';
import { needOf, planSubmit } from '../decide/plan-submit.js';
import { firstDifference, isSame } from './canonical.js';
import { holdNeeded } from './opening.js';
import { type AuctionState, findQuote, type Quote } from '../state.js';
import { decideWithdraw } from '../decide/withdraw.js';

type Of<Type extends AuctionEvent['type']> = Extract<AuctionEvent, { type: Type }>;

/** The policy admitted the command when it arrived. The journal does not hold that policy. */
const ADMITTED = { policy: undefined };

export function objectionToSubmission(
  before: AuctionState,
  { at, data: { quote } }: Of<'QUOTE_SUBMITTED'>,
): string | undefined {
  if (!isInvited(before, quote.maker)) return 'its maker was not invited';
  const facts = { ...ADMITTED, maker: quote.maker, now: at, quote_id: quote.quote_id };
  const plan = planSubmit(before, quote, facts);
  return plan.ok ? objectionToTerms(before, plan.quote, quote) : `the rules refuse it: ${plan.error}`;
}

export function objectionToRevision(
  before: AuctionState,
  { at, data: { quote, keeps_priority: keeps } }: Of<'QUOTE_REVISED'>,
): string | undefined {
  const current = findQuote(before, quote.quote_id);
  if (current === undefined) return 'there is no such quote';
  const facts = { ...ADMITTED, maker: quote.maker, now: at };
  const plan = planRevise(before, quote.quote_id, revisionOf(current, quote), facts);
  if (!plan.ok) return `the rules refuse it: ${plan.error}`;
  if (plan.keeps_priority !== keeps) {
    return keeps ? 'it keeps its priority and must lose it' : 'it loses its priority and must keep it';
  }
  return objectionToTerms(before, plan.quote, quote);
}

export function objectionToWithdrawal(
  before: AuctionState,
  { at, data }: Of<'QUOTE_WITHDRAWN'>,
): string | undefined {
  const decision = decideWithdraw(before, { quote_id: data.quote_id, by: data.by }, { now: at });
  if (!decision.ok) return `the rules refuse it: ${decision.error}`;
  return isSame(decision.events[0]?.body.data, data)
    ? undefined
    : 'it names a maker that does not own the quote';
}

function isInvited({ terms }: AuctionState, maker: string): boolean {
  return terms.audience.some((party) => party.account_id === maker);
}

function revisionOf(before: Quote, after: QuoteTerms): ReviseBody {
  const { price_atoms, quantity_atoms, min_quantity_atoms, expires_at: expiresAt } = after;
  const { client_reference: reference } = after;
  const moved = expiresAt !== undefined && expiresAt !== before.expires_at;
  return {
    expected_revision: before.revision,
    price_atoms,
    quantity_atoms,
    min_quantity_atoms,
    ...(moved ? { expires_at: expiresAt } : {}),
    ...(reference === undefined ? {} : { client_reference: reference }),
  };
}

function objectionToTerms(
  { terms }: AuctionState,
  planned: Omit<QuoteTerms, 'hold'>,
  { hold, ...quote }: QuoteTerms,
): string | undefined {
  const difference = firstDifference(planned, quote);
  if (difference !== undefined) return `the rules would give the quote another ${difference}`;
  const needed = holdNeeded(needOf(terms, quote.price_atoms, quote.quantity_atoms), hold);
  return isSame(needed, hold) ? undefined : 'its holds are not those that its terms need';
}
