import type { AuctionEvent, QuoteOperation } from '../events.js';
import { checkOpen, standingQuote, standingQuoteOf } from '../decide/open-check.js';
import type { RejectionCode } from '#libs/base/rejection.js';
import { findQuote, type AuctionState } from '../state.js';
import { isOverFor } from '../told/viewer.js';

type Of<Type extends AuctionEvent['type']> = Extract<AuctionEvent, { type: Type }>;
type Refused = Of<'QUOTE_REJECTED'>;

const CAPACITY: readonly RejectionCode[] = [
  'INSUFFICIENT_COLLATERAL',
  'INSUFFICIENT_INVENTORY',
  'VENUE_LIMIT_EXCEEDED',
  'SERVICE_CAPACITY_EXCEEDED',
];
const QUOTING: readonly RejectionCode[] = [
  ...CAPACITY,
  'AUCTION_NOT_OPEN',
  'AUTHORITY_EVIDENCE_STALE',
  'INVALID_PRICE_TICK',
  'INVALID_QUANTITY_STEP',
  'INVALID_TERMS',
  'MARKET_NOT_TRADABLE',
  'MMP_FROZEN',
  'PRICE_OUT_OF_RANGE',
  'PRINCIPAL_NOT_ENTITLED',
  'PRINCIPAL_SUSPENDED',
  'QUANTITY_BELOW_MINIMUM',
  'RISK_EVIDENCE_STALE',
  'SERVICE_HALTED',
  'UNAUTHORIZED_SIZE',
  'VENUE_HALTED',
];

/** The error codes that are journaled for each command. Conflicts and expired commands are not journaled. */
const CODES: Readonly<Record<QuoteOperation, readonly string[]>> = {
  SUBMIT: QUOTING,
  REVISE: [...QUOTING, 'QUOTE_NOT_REVISABLE', 'REVISION_NOT_IMPROVING'],
  WITHDRAW: ['AUCTION_NOT_OPEN', 'QUOTE_NOT_WITHDRAWABLE'],
};

/**
 * The journal holds only the refusal, not the refused command. Checked are who may be refused, when, and with which
 * code; causes within the auction itself are checked as well.
 */
export function objectionToRefusal(before: AuctionState, event: Refused): string | undefined {
  const { maker, operation, error, quote_id: quoteId } = event.data;
  if (!before.terms.audience.some((party) => party.account_id === maker)) return 'its maker was not invited';
  if (isOverFor(before, { account_id: maker, role: 'MARKET_MAKER' }))
    return 'the auction is over for its maker, who sees nothing after that';
  if (!CODES[operation].includes(error)) return `no ${operation} is refused with ${error}`;
  const owner = quoteId === undefined ? undefined : findQuote(before, quoteId)?.maker;
  if (operation === 'SUBMIT' ? quoteId !== undefined : owner !== maker)
    return 'it is not about a quote of its maker';
  return (
    objectionToOpenness(before, event.at, error) ??
    (error === 'AUCTION_NOT_OPEN' ? undefined : objectionToCause(before, event))
  );
}

export function objectionToCancelRefusal(
  before: AuctionState,
  { at, data: { error } }: Of<'CANCEL_REJECTED'>,
): string | undefined {
  // While an auction is open, a cancel can be refused only for its reason text.
  return error === 'AUCTION_NOT_OPEN' || error === 'INVALID_TERMS'
    ? objectionToOpenness(before, at, error)
    : `no cancel is refused with ${error}`;
}

/** Openness is checked before anything else, so the code is AUCTION_NOT_OPEN exactly when the auction was not open. */
function objectionToOpenness(before: AuctionState, at: string, error: string): string | undefined {
  if (before.status === 'OPEN' && at >= before.terms.closes_at)
    return 'its time is after the close, but it comes before the close';
  const isOpen = checkOpen(before, at) === undefined;
  if (isOpen !== (error === 'AUCTION_NOT_OPEN')) return undefined;
  return isOpen ? 'the auction was open' : 'the auction was not open, but the error is another';
}

function objectionToCause(before: AuctionState, { at, data }: Refused): string | undefined {
  const { maker, operation, error, quote_id: quoteId = '' } = data;
  if (operation === 'SUBMIT') {
    const hasQuote = standingQuoteOf(before, maker, at) !== undefined;
    return hasQuote && CAPACITY.some((code) => code === error)
      ? 'its maker had an active quote, so nothing was to be set aside for another'
      : undefined;
  }
  const { quote_revision_policy: policy } = before.terms;
  const isStanding = standingQuote(before, quoteId, at) !== undefined;
  const [fixed, code] =
    operation === 'REVISE'
      ? [!isStanding || policy === 'FINAL', 'QUOTE_NOT_REVISABLE']
      : [!isStanding || policy !== 'FREE', 'QUOTE_NOT_WITHDRAWABLE'];
  if (fixed !== (error === code)) return fixed ? `the rules refuse it with ${code}` : 'the quote was active';
  return error === 'REVISION_NOT_IMPROVING' && policy !== 'IMPROVE_ONLY'
    ? 'a revision need not improve anything in this auction'
    : undefined;
}
