import { decideCancel, decideVoid } from '../decide/void.js';
import { decideClose, decideExpiries } from '../decide/close.js';
import { decideCompletion } from '../completion.js';
import type { AuctionEvent } from '../events.js';
import { decideExecution, type ExecutionReport } from '../decide/execution.js';
import { assetOf } from '../holds.js';
import { firstDifference, isSame } from './canonical.js';
import type { AuctionState } from '../state.js';

type Of<Type extends AuctionEvent['type']> = Extract<AuctionEvent, { type: Type }>;
type Ended = Of<'AUCTION_CANCELLED' | 'AUCTION_VOIDED'>;
type Decided = Of<'AUCTION_CLOSED' | 'AUCTION_AWARDED' | 'AUCTION_NOT_AWARDED'>;
type Executed = Of<`EXECUTION_${ExecutionReport['step']}`>;

export function objectionToExpiry(
  before: AuctionState,
  { at, data }: Of<'QUOTE_EXPIRED'>,
): string | undefined {
  const due = decideExpiries(before, at);
  return due.some((one) => one.at === at && isSame(one.body.data, data))
    ? undefined
    : 'no such quote expires at that time';
}

export function objectionToEnd(before: AuctionState, { type, at, data }: Ended): string | undefined {
  const decide = type === 'AUCTION_CANCELLED' ? decideCancel : decideVoid;
  const decision = decide(before, data, { now: at });
  return decision.ok ? undefined : `the rules refuse it: ${decision.error}`;
}

/** The close and its decision. The winner rule is applied again to the active quotes. */
export function objectionToDecision(before: AuctionState, event: Decided): string | undefined {
  const ids = new Map(
    event.type === 'AUCTION_AWARDED' ? event.data.awards.map((one) => [one.quote_id, one.award_id]) : [],
  );
  if (new Set(ids.values()).size < ids.size) return 'two awards have the same id';
  const [due] = decideClose(before, { awardId: (quoteId) => ids.get(quoteId) ?? '' });
  if (due === undefined) return 'nothing is to be decided at this point';
  if (due.body.type !== event.type) return `the rules decide ${due.body.type} here`;
  if (due.at !== event.at) return `its time must be ${due.at}`;
  const difference = firstDifference(due.body.data, event.data);
  return difference === undefined ? undefined : `the winner rule gives another ${difference}`;
}

export function objectionToExecution(before: AuctionState, event: Executed): string | undefined {
  const step = STEPS[event.type];
  const decision = decideExecution(before, { ...event.data, step }, { now: event.at });
  const [due] = decision.ok ? decision.events : [];
  if (due === undefined) return 'no award expects this report';
  if (!isSame(due.body, { type: event.type, data: event.data })) {
    return 'a step of the award is missing before it';
  }
  return event.type === 'EXECUTION_CONFIRMED' ? objectionToSettlement(before, event) : undefined;
}

/** The chosen route depends on balances that the rules do not know, so only the impossible is rejected. */
function objectionToSettlement(
  { terms, awards }: AuctionState,
  { data }: Of<'EXECUTION_CONFIRMED'>,
): string | undefined {
  const { settlement } = data;
  if (settlement === undefined) return undefined;
  const { venue, asset, delivered_atoms: delivered } = settlement;
  const award = awards.find(({ award_id: id }) => id === data.award_id);
  const isRoute = terms.routes.some((route) => route.venue === venue && assetOf(route) === asset);
  if (!isRoute) return 'the auction has no such route';
  return delivered > (award?.quantity_atoms ?? 0) ? 'more was delivered than was awarded' : undefined;
}

/** A completion bears the time of the last report, or of the decision if there was nothing to settle. */
export function objectionToCompletion(
  before: AuctionState,
  { at, data }: Of<'AUCTION_COMPLETED'>,
): string | undefined {
  const [due] = decideCompletion(before);
  if (due === undefined) return 'the auction is not over yet';
  if (!isSame(due.body.data, data)) return 'the rules end the auction with another status';
  return due.at === at ? undefined : `its time must be ${due.at}`;
}

const STEPS: Readonly<Record<Executed['type'], ExecutionReport['step']>> = {
  EXECUTION_SUBMITTED: 'SUBMITTED',
  EXECUTION_RETRYING: 'RETRYING',
  EXECUTION_CONFIRMED: 'CONFIRMED',
  EXECUTION_FAILED: 'FAILED',
};
