import { instant, positive, text, uuid } from '#libs/edge/decoding/decode-scalars.js';
import type { JsonSchema } from '#libs/edge/decoding/decode.js';
import { named } from '#libs/edge/documents/components.js';
import { codesOf } from '#libs/edge/documents/edge-answers.js';
import {
  anyText,
  constant,
  described,
  flag,
  integerFrom,
  listOf,
  moment,
  nothing,
  oneOf,
  optional,
  record,
  type Shape,
  words,
} from '#libs/edge/documents/shapes.js';
import { type EndpointSpec, namesIn } from '#libs/edge/endpoint.js';
import {
  type CLIENT_MESSAGES,
  CONTROL_MESSAGES,
  isControl,
  type StreamCommandName,
} from '../../stream/client-messages.js';
import type { ResumeError, ResyncReason, ServerMessage } from '../../stream/server-messages.js';
import { AUCTION_DIALECT } from '../refusals.js';
import { cancelAuction, getAuction, getEvents } from '../auctions/auction-endpoints.js';
import { auction, ownAuction } from '../auctions/auction-shapes.js';
import { eventOfEachKind, pascal } from '../auctions/timeline-shapes.js';
import {
  preflightQuote,
  reviseQuote,
  submitQuote,
  withdrawAllQuotes,
  withdrawQuote,
} from '../quotes/quote-endpoints.js';
import { quote, verdict, withdrawnAll } from '../quotes/quote-shapes.js';

type ClientMessageName = (typeof CLIENT_MESSAGES)[number];

const COMMANDS: Readonly<Record<StreamCommandName, EndpointSpec>> = {
  'quote.submit': submitQuote,
  'quote.revise': reviseQuote,
  'quote.withdraw': withdrawQuote,
  'quote.withdraw_all': withdrawAllQuotes,
  'quote.preflight': preflightQuote,
  'auction.cancel': cancelAuction,
};
const ID_FIELDS: Readonly<Record<string, string>> = { auctionID: 'auction_id', quoteID: 'quote_id' };
const KEY = text({ pattern: /^[A-Za-z0-9._:-]{1,128}$/ });

const cmdId = text({ minLength: 1, maxLength: 64 });
const channel = words({ auctions: 'all auctions that the caller may see', auction: 'one auction' });

/** The shape of a client message: the fields of the endpoint of the same name, or of a control message. */
export function clientShape(name: ClientMessageName): Shape {
  const fields = isControl(name) ? CONTROL_MESSAGES[name].describe() : commandFields(COMMANDS[name]);
  const { properties = {}, required = [] } = fields as {
    readonly properties?: JsonSchema;
    readonly required?: readonly string[];
  };
  return named(`${pascal(name)}Message`, {
    describe: () => ({
      ...fields,
      properties: { type: constant(name).describe(), cmd_id: cmdId.describe(), ...properties },
      required: ['type', 'cmd_id', ...required],
    }),
  });
}

function commandFields(spec: EndpointSpec): JsonSchema {
  const body = spec.body?.describe() ?? {};
  const ids = namesIn(spec.path).map((name) => {
    return [ID_FIELDS[name] ?? name, spec.ids?.[name]?.describe?.() ?? uuid.describe()] as const;
  });
  const key = spec.idempotency === 'required' ? { idempotency_key: KEY.describe() } : {};
  return {
    ...body,
    properties: {
      ...Object.fromEntries(ids),
      ...(body.properties as JsonSchema),
      ...key,
      not_after: instant.describe(),
    },
    required: [...ids.map(([name]) => name), ...((body.required ?? []) as string[]), ...Object.keys(key)],
  };
}

/** Codes that no endpoint has, or that no command endpoint has. */
const OF_THE_STREAM = [
  'invalid_json',
  'invalid_request',
  'not_found',
  'forbidden',
  'unauthorized',
  'stream_subscription_limit',
  'COMMAND_EXPIRED',
  'internal_error',
  'owner_routing_unavailable',
];
/** Codes that concern HTTP only. */
const OF_HTTP = new Set([408, 413, 415, 431, 501]);
const NEVER_HERE = new Set([
  'malformed_request',
  'multiple_json_values',
  'internal_routing_headers_forbidden',
  'too_many_pipelined_requests',
  'invalid_events_page',
  // A stream message has only one place for a key.
  'idempotency_key_mismatch',
]);

const rejectionCodes = [
  ...new Set([
    ...[...Object.values(COMMANDS), getAuction, getEvents]
      .flatMap((spec) => [...codesOf(spec, AUCTION_DIALECT)])
      .flatMap(([status, codes]) => (OF_HTTP.has(status) ? [] : codes))
      .filter((code) => !NEVER_HERE.has(code)),
    ...OF_THE_STREAM,
  ]),
].sort();

const subscription = record({ subscription_id: anyText, channel, auction_id: optional(uuid) });

/** What the server sends, by `type`. Events have one shape per kind. */
const SERVER_SHAPES: Readonly<Record<Exclude<ServerMessage, 'event'>, Readonly<Record<string, Shape>>>> = {
  welcome: {
    cmd_id: cmdId,
    connection_id: uuid,
    server_time: moment,
    session_expires_at: moment,
    heartbeat_ms: positive,
    resumed: flag,
    subscriptions: listOf(subscription),
    resume_error: optional(
      words<ResumeError>({
        INVALID: 'invalid, of another caller, or from before the journals were restored from a backup',
        EXPIRED: 'older than 24 hours',
      }),
    ),
  },
  subscribed: { cmd_id: cmdId, subscription_id: anyText },
  unsubscribed: { cmd_id: cmdId, subscription_id: anyText },
  snapshot: {
    subscription_id: anyText,
    auctions: listOf(auction, { max: 200 }),
    more: flag,
    resume_token: anyText,
  },
  ack: {
    cmd_id: cmdId,
    status: integerFrom(200, 201),
    result: oneOf([
      quote,
      withdrawnAll,
      verdict,
      ownAuction,
      named('RefreshedSession', record({ session_expires_at: moment })),
      nothing,
    ]),
  },
  reject: {
    cmd_id: cmdId,
    status: integerFrom(400, 503),
    error: { describe: () => ({ type: 'string', enum: rejectionCodes }) },
    message: optional(anyText),
  },
  heartbeat: { server_time: moment, resume_token: anyText },
  pong: { cmd_id: cmdId },
  resync: {
    subscription_id: anyText,
    reason: words<ResyncReason>({
      SLOW_READER: 'too much waited for the reader',
      HISTORY_GONE: 'the events that the client says it has seen cannot be found',
      SNAPSHOT_INCOMPLETE:
        'the connection ended before the snapshot was complete: it is sent again as it was',
    }),
  },
  session_expiring: { session_expires_at: moment },
  goaway: {
    reason: words({
      DRAINING: 'this gateway is about to stop: connect again and resume',
      SHARD_STOPPED:
        'this gateway cannot follow one of the journals any more; it still serves the others: resume elsewhere',
    }),
  },
};

export function serverShape(name: ServerMessage): Shape {
  if (name !== 'event') {
    return named(`${pascal(name)}Message`, record({ type: constant(name), ...SERVER_SHAPES[name] }));
  }
  const around = {
    type: constant('event'),
    subscription_id: anyText,
    seq: described(positive, 'Counts the events of the subscription from 1, without gaps.'),
    auction_id: uuid,
    timeline_seq: positive,
    occurred_at: moment,
    resume_token: optional(anyText),
  };
  const kinds = eventOfEachKind(
    (kind) => `${pascal(kind)}Event`,
    () => around,
  );
  return named('EventMessage', oneOf(kinds));
}
