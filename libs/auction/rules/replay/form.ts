import type { AuctionEvent, CancelledBy, QuoteOperation, QuoteTerms, WithdrawnBy } from '../events.js';
import type {
  Allocation,
  MakerIdentity,
  OriginatorIdentity,
  QuoteRevisionPolicy,
  ResultDisclosure,
  Side,
  Terms,
} from '../terms.js';
import { type Instant, instantFromNanos, nanosFromInstant } from '#libs/base/instant.js';

/** All words of an enumeration. The compiler requires each of them and allows no other. */
type Words<Word extends string> = Readonly<Record<Word, true>>;

const SIDES: Words<Side> = { BUY: true, SELL: true };
const ALLOCATIONS: Words<Allocation> = { SINGLE_WINNER: true, SPLIT: true };
const REVISIONS: Words<QuoteRevisionPolicy> = { FREE: true, IMPROVE_ONLY: true, FINAL: true };
const DISCLOSURES: Words<ResultDisclosure> = {
  OWN_RESULT: true,
  WINNING_PRICE: true,
  WINNING_PRICE_AND_RANK: true,
};
const ORIGINATORS: Words<OriginatorIdentity> = { ANONYMOUS: true, DISCLOSED: true, WINNER_ONLY: true };
const MAKERS: Words<MakerIdentity> = { ANONYMOUS: true, DISCLOSED_AFTER_AWARD: true };
const WITHDRAWERS: Words<WithdrawnBy> = {
  MARKET_MAKER: true,
  DISCONNECT: true,
  PROTECTION: true,
  OPERATOR: true,
};
const OPERATIONS: Words<QuoteOperation> = { SUBMIT: true, REVISE: true, WITHDRAW: true };
/** An originator cancels its auction. Anyone else voids it. */
const CANCELLERS: Words<Extract<CancelledBy, 'ORIGINATOR'>> = { ORIGINATOR: true };
const VOIDERS: Words<Exclude<CancelledBy, 'ORIGINATOR'>> = { OPERATOR: true, SYSTEM: true };

const STEP = ['award_id', 'attempt', 'reason'];
const ENDED = ['by', 'reason'];

/**
 * The fields that an audit shows for each event, with pseudonyms for maker and originator. A record may hold no
 * others.
 */
const FIELDS: Readonly<Record<AuctionEvent['type'], readonly string[]>> = {
  AUCTION_OPENED: ['terms', 'hold'],
  QUOTE_SUBMITTED: ['quote'],
  QUOTE_REVISED: ['quote', 'keeps_priority'],
  QUOTE_WITHDRAWN: ['quote_id', 'maker', 'by'],
  QUOTE_EXPIRED: ['quote_id', 'maker'],
  QUOTE_REJECTED: ['quote_id', 'maker', 'operation', 'error', 'message'],
  CANCEL_REJECTED: ['error', 'message'],
  AUCTION_CANCELLED: ENDED,
  AUCTION_VOIDED: ENDED,
  AUCTION_CLOSED: [],
  AUCTION_AWARDED: ['awards', 'execution_deadline'],
  AUCTION_NOT_AWARDED: ['reason'],
  EXECUTION_SUBMITTED: STEP,
  EXECUTION_RETRYING: STEP,
  EXECUTION_CONFIRMED: STEP,
  EXECUTION_FAILED: STEP,
  AUCTION_COMPLETED: ['status'],
};

/**
 * The source of the events: a bundle for auditors, with pseudonyms and without private fields, or the journal
 * itself.
 */
export type Telling = 'AUDITED' | 'JOURNALED';

/** Fields that only the journal has. */
const NOTES: Partial<Record<AuctionEvent['type'], readonly string[]>> = {
  QUOTE_SUBMITTED: ['connection_id'],
  AUCTION_VOIDED: ['operator'],
  EXECUTION_CONFIRMED: ['settlement'],
};

const MOST_MAKERS = 64;

/**
 * Checks what the gateway and the policy store guarantee before the rules run, and what the rules take for granted:
 * no unknown field, no unknown enumeration value, valid times, a valid audience.
 */
export function objectionToForm(event: AuctionEvent, telling: Telling): string | undefined {
  const privateFields = telling === 'JOURNALED' ? (NOTES[event.type] ?? []) : [];
  const extra = Object.keys(event.data).find(
    (name) => !FIELDS[event.type].includes(name) && !privateFields.includes(name),
  );
  if (extra !== undefined) return `${extra} does not belong there`;
  if (!isInstant(event.at)) return 'occurred_at is not a valid time';
  switch (event.type) {
    case 'AUCTION_OPENED':
      return (
        objectionToWording(event.data.terms) ??
        objectionToReference(event.data.terms, telling) ??
        objectionToAudience(event.data.terms, telling)
      );
    case 'QUOTE_SUBMITTED':
    case 'QUOTE_REVISED':
      return event.data.quote.expires_at === undefined || isInstant(event.data.quote.expires_at)
        ? objectionToReference(event.data.quote, telling)
        : 'expires_at is not a valid time';
    case 'QUOTE_WITHDRAWN':
      return objectionToWords([['by', WITHDRAWERS, event.data.by]]);
    case 'QUOTE_REJECTED':
      return objectionToWords([['operation', OPERATIONS, event.data.operation]]);
    case 'AUCTION_CANCELLED':
      return objectionToWords([['by', CANCELLERS, event.data.by]]);
    case 'AUCTION_VOIDED':
      return objectionToWords([['by', VOIDERS, event.data.by]]);
    default:
      return undefined;
  }
}

function objectionToWording({ identity_policy: identity, ...terms }: Terms): string | undefined {
  if (!isInstant(terms.closes_at)) return 'closes_at is not a valid time';
  const isPlain = terms.routes.every((route) => Object.values(route).every((name) => isName(name)));
  if (!isPlain) return 'a name in a route is not a text';
  return objectionToWords([
    ['side', SIDES, terms.side],
    ['allocation', ALLOCATIONS, terms.allocation],
    ['quote_revision_policy', REVISIONS, terms.quote_revision_policy],
    ['result_disclosure', DISCLOSURES, terms.result_disclosure],
    ['identity_policy.originator', ORIGINATORS, identity.originator],
    ['identity_policy.market_makers', MAKERS, identity.market_makers],
  ]);
}

/** Auditors never see a client reference. In the journal the rules check its form. */
function objectionToReference(
  { client_reference: reference }: Terms | QuoteTerms,
  telling: Telling,
): string | undefined {
  return reference === undefined || telling === 'JOURNALED'
    ? undefined
    : 'client_reference does not belong there';
}

/** The form of a party's pseudonym for auditors. */
const PARTY = /^P-[A-HJ-NP-Z2-9]{16}$/;

function objectionToAudience({ audience, originator }: Terms, telling: Telling): string | undefined {
  const makers = new Set(audience.map((party) => party.account_id));
  if (makers.has(originator.account_id)) return 'the originator is in its own audience';
  const parties = [originator.account_id, ...makers];
  if (!parties.every((party) => (telling === 'AUDITED' ? PARTY.test(party) : isName(party))))
    return telling === 'AUDITED' ? 'a party has a name that is no pseudonym' : 'a party has no name';
  if (makers.size < audience.length) return 'a maker is invited twice';
  return makers.size >= 1 && makers.size <= MOST_MAKERS
    ? undefined
    : `an auction has 1 to ${MOST_MAKERS} makers`;
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function objectionToWords(
  checks: readonly (readonly [name: string, words: Readonly<Record<string, true>>, word: string])[],
): string | undefined {
  const wrong = checks.find(([, words, word]) => !Object.hasOwn(words, word));
  return wrong === undefined ? undefined : `${wrong[0]} is not one of ${Object.keys(wrong[1]).join(', ')}`;
}

const FORM = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{9}Z$/;

/**
 * Events whose time follows from the terms and earlier events, whenever they are journaled. The rules give the
 * exact instant.
 */
const OF_THEIR_OWN_TIME: ReadonlySet<AuctionEvent['type']> = new Set<AuctionEvent['type']>([
  'QUOTE_EXPIRED',
  'AUCTION_CLOSED',
  'AUCTION_AWARDED',
  'AUCTION_NOT_AWARDED',
  'AUCTION_COMPLETED',
]);

/** Instants can be compared as strings only when all have this form and name an existing moment. */
export function isInstant(text: string): boolean {
  if (!FORM.test(text) || Number.isNaN(Date.parse(text))) return false;
  return instantFromNanos(nanosFromInstant(text)) === text;
}

/** An owner's times never go back. `latest` is the latest time of all earlier records. */
export function objectionToTime(latest: Instant | undefined, { type, at }: AuctionEvent): string | undefined {
  if (latest === undefined || at >= latest || OF_THEIR_OWN_TIME.has(type)) return undefined;
  return `time runs back: an earlier record bears ${latest}`;
}
