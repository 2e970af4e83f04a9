import type { NotAwardedReason, QuoteOperation } from '../../rules/events.js';
import type {
  Actor,
  ExecutionNews,
  RefusedQuoteCall,
  TimelineEntry,
  WonQuote,
} from '../../rules/told/timeline-entry.js';
import { positive, uuid } from '#libs/edge/decoding/decode-scalars.js';
import { named } from '#libs/edge/documents/components.js';
import {
  anyText,
  constant,
  described,
  integerFrom,
  listOf,
  moment,
  nothing,
  oneOf,
  optional,
  record,
  recordOf,
  words,
  type Shape,
} from '#libs/edge/documents/shapes.js';
import { lossReason, quote } from '../quotes/quote-shapes.js';
import { auction, auctionStatus, award } from './auction-shapes.js';

type Kind = TimelineEntry['kind'];

const afterIt = record({ quote });
const refusal = recordOf<RefusedQuoteCall>({
  operation: words<QuoteOperation>({ SUBMIT: 'submit', REVISE: 'revise', WITHDRAW: 'withdraw' }),
  error: anyText,
  message: anyText,
  quote_id: optional(uuid),
});
const won = recordOf<WonQuote>({
  quote_id: uuid,
  award_id: uuid,
  price_atoms: positive,
  quantity_atoms: positive,
});
const lost = record({
  quote_id: uuid,
  reason: lossReason,
  rank: optional(integerFrom(1)),
  winning_price_atoms: optional(positive),
});
const execution = recordOf<Omit<ExecutionNews, 'reason'>>({ award_id: uuid, attempt: positive });
const setback = record({ award_id: uuid, attempt: positive, reason: anyText });
/** Zero attempts if the deadline passed before the award was submitted. */
const failure = record({ award_id: uuid, attempt: integerFrom(0), reason: anyText });
const notAwarded = record({
  reason: words<NotAwardedReason>({
    NO_QUOTES: 'there was no active quote at the close',
    RESERVE_NOT_MET: 'no quote was as good as the limit',
    MINIMUM_NOT_MET: 'the possible awards stayed below the minimum fill',
  }),
});

interface KindText {
  readonly data: Shape;
  readonly by: readonly Actor[];
  readonly means: string;
}

const SERVICE: readonly Actor[] = ['SYSTEM'];

/** The data of each kind of event, and who may have caused it. */
const KINDS: Readonly<Record<Kind, KindText>> = {
  AUCTION_OPENED: {
    data: record({ auction }),
    by: ['SELF', 'ORIGINATOR'],
    means: 'The auction opened; the view of that moment.',
  },
  INVITATION_RECEIVED: { data: nothing, by: ['ORIGINATOR'], means: 'The viewer may quote.' },
  QUOTE_ACCEPTED: { data: afterIt, by: ['SELF'], means: 'A quote of the viewer was accepted.' },
  QUOTE_REVISED: { data: afterIt, by: ['SELF'], means: 'The terms of a quote of the viewer changed.' },
  QUOTE_WITHDRAWN: {
    data: afterIt,
    by: ['SELF', 'SYSTEM', 'OPERATOR'],
    means: 'A quote of the viewer was withdrawn, see `withdrawn_by`.',
  },
  QUOTE_EXPIRED: { data: afterIt, by: SERVICE, means: 'A quote of the viewer has reached its `expires_at`.' },
  QUOTE_REJECTED: { data: refusal, by: ['SELF'], means: 'The engine refused a call of the viewer.' },
  AUCTION_CANCELLED: {
    data: record({ reason: optional(anyText) }),
    by: ['SELF', 'ORIGINATOR'],
    means: 'Its originator cancelled the auction. Only the originator sees the reason.',
  },
  AUCTION_VOIDED: {
    data: nothing,
    by: ['OPERATOR', 'SYSTEM'],
    means: 'An operator or the end of a market ended the auction.',
  },
  AUCTION_CLOSED: { data: nothing, by: SERVICE, means: 'Nothing is accepted any more.' },
  AUCTION_AWARDED: { data: record({ award }), by: SERVICE, means: 'Who won, for the originator.' },
  AUCTION_NOT_AWARDED: { data: notAwarded, by: SERVICE, means: 'No quote won, for the originator.' },
  QUOTE_AWARDED: { data: won, by: SERVICE, means: 'A quote of the viewer won.' },
  QUOTE_NOT_AWARDED: {
    data: lost,
    by: SERVICE,
    means: 'A quote of the viewer was active at the close and won nothing.',
  },
  EXECUTION_SUBMITTED: { data: execution, by: SERVICE, means: 'An award is on its way to a venue.' },
  EXECUTION_RETRYING: { data: setback, by: SERVICE, means: 'A venue could not execute the award yet.' },
  EXECUTION_CONFIRMED: { data: execution, by: SERVICE, means: 'An award was executed.' },
  EXECUTION_FAILED: { data: failure, by: SERVICE, means: 'An award could not be executed.' },
  AUCTION_COMPLETED: {
    data: record({ status: auctionStatus }),
    by: SERVICE,
    means: 'It is over for the viewer: the last event of every auction.',
  },
};

/** One shape for each kind of event, with the fields that all kinds share. */
export function eventOfEachKind(
  nameOf: (kind: string) => string,
  around: (by: readonly Actor[]) => Readonly<Record<string, Shape>>,
): readonly Shape[] {
  return Object.entries(KINDS).map(([kind, { data, by, means }]) =>
    named(nameOf(kind), described(record({ ...around(by), kind: constant(kind), data }), means)),
  );
}

export function pascal(words: string): string {
  return words
    .toLowerCase()
    .split(/[_.-]/)
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('');
}

const ACTORS: Readonly<Record<Actor, string>> = {
  SELF: 'the viewer',
  ORIGINATOR: 'the originator',
  SYSTEM: 'the service',
  OPERATOR: 'an operator',
};

export const timelineEntry: Shape = named(
  'TimelineEntry',
  oneOf(
    eventOfEachKind(
      (kind) => `${pascal(kind)}Entry`,
      (by) => ({
        seq: positive,
        occurred_at: moment,
        actor: words(Object.fromEntries(by.map((actor) => [actor, ACTORS[actor]]))),
      }),
    ),
  ),
);

export const timelinePage: Shape = named(
  'Timeline',
  record({
    auction_id: uuid,
    role: words({ ORIGINATOR: 'the viewer opened the auction', MARKET_MAKER: 'the viewer was invited' }),
    status: auctionStatus,
    complete: constant(true),
    events: listOf(timelineEntry, { max: 1_000 }),
    next_after_seq: optional(positive),
  }),
);

/** The NDJSON form: one entry per line, and a last line with their number. */
export const timelineLine: Shape = named(
  'TimelineLine',
  oneOf([timelineEntry, record({ complete: constant(true), count: integerFrom(0) })]),
);
