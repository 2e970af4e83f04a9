import { positive, text, uuid } from '#libs/edge/decoding/decode-scalars.js';
import type { JsonSchema } from '#libs/edge/decoding/decode.js';
import { named } from '#libs/edge/documents/components.js';
import {
  anyText,
  constant,
  flag,
  integerFrom,
  listOf,
  optional,
  record,
  words,
  type Shape,
} from '#libs/edge/documents/shapes.js';
import { CONTROL_MESSAGES, isControl, type SocketControlName } from '../../stream/client-messages.js';
import type { CommandName } from '../../stream/ports.js';
import {
  anything,
  decimal,
  fillFields,
  oneOfWords,
  orderRow,
  settlement,
  side,
  time,
  venue,
} from '../record-shapes.js';
import type { SocketMessage, SocketResumeError, SocketResyncReason } from '../../stream/server-messages.js';

export type ClientOp = SocketControlName | CommandName;

const number: JsonSchema = { type: 'number' };
const reqId = text({ minLength: 1, maxLength: 64 });
const seq = integerFrom(0);

const REASONS = [
  ...[
    'ACCEPTED',
    'SUBMITTING',
    'PENDING_VENUE',
    'OPEN',
    'FILL',
    'AMENDED',
    'CANCEL_REQUESTED',
    'CANCEL_REFUSED',
  ],
  ...['STALLED', 'SETTLEMENT', 'REVERSAL', 'EXTERNAL', 'FILLED', 'CANCELLED', 'EXPIRED', 'FAILED'],
];
const subscription = record({
  subscription_id: anyText,
  channel: constant('orders'),
  exchange_ids: optional(listOf(venue)),
});
const onChannel = { subscription_id: anyText, seq, resume_token: optional(anyText) };

/** The messages of the server, by `type`. */
const SERVER_SHAPES: Readonly<Record<SocketMessage, Readonly<Record<string, Shape>>>> = {
  welcome: {
    ...{ req_id: reqId, connection_id: uuid, server_time: time, session_expires_at: optional(time) },
    ...{ heartbeat_ms: positive, resumed: flag, subscriptions: listOf(subscription) },
    resume_error: optional(
      words<SocketResumeError>({
        INVALID: 'broken, of another user, or from before the journals were restored from a backup',
        EXPIRED: 'older than 24 hours',
      }),
    ),
  },
  subscribed: { req_id: reqId, subscription_id: anyText },
  unsubscribed: { req_id: reqId, subscription_id: anyText },
  snapshot: { ...onChannel, orders: listOf(orderRow, { max: 200 }), more: flag },
  order_update: { ...onChannel, reason: oneOfWords(...REASONS), order: orderRow },
  fill: { ...onChannel, ...fillFields },
  settlement: { ...onChannel, fill_id: uuid, settlement_status: settlement, tx_hash: optional(anyText) },
  fill_reversal: { ...onChannel, fill_id: uuid, order_id: uuid, reason: anyText },
  external: {
    ...{ ...onChannel, kind: oneOfWords('TRANSFER', 'REDEMPTION'), exchange_id: venue, asset: anyText },
    ...{ amount: decimal, entry_id: anyText, occurred_at: time },
  },
  ack: {
    ...{ req_id: reqId, result: anything },
    ...{ idempotent_replay: optional(constant(true)), idempotent_mismatch: optional(constant(true)) },
  },
  error: {
    ...{ req_id: reqId, status: integerFrom(400, 503), error: optional(anyText), code: optional(anyText) },
    error_details: optional(
      record({ code: anyText, details: optional(anything), metadata: optional(anything) }),
    ),
  },
  heartbeat: { server_time: time, resume_token: anyText },
  pong: { req_id: reqId },
  provider_access: { exchange_id: venue, enabled: { describe: () => ({ type: ['boolean', 'null'] }) } },
  resync: {
    subscription_id: anyText,
    reason: words<SocketResyncReason>({
      SLOW_READER: 'too many messages waited for the reader',
      HISTORY_GONE: 'the missed messages are no longer available',
      SNAPSHOT_INCOMPLETE: 'the connection ended before the snapshot was complete',
      PROVIDER_ACCESS: 'access to a venue has returned',
    }),
  },
  session_expiring: { session_expires_at: optional(time) },
  goaway: {
    reason: words({
      DRAINING: 'this process is about to stop. Connect again and resume',
      CELL_STOPPED: 'this process can no longer follow one of the journals. Resume elsewhere',
    }),
  },
};

export function serverShape(name: SocketMessage): Shape {
  return named(`${pascal(name)}Message`, record({ type: constant(name), ...SERVER_SHAPES[name] }));
}

const string: JsonSchema = { type: 'string' };
const instant: JsonSchema = { type: 'string', format: 'date-time' };
/** The fields of commands. The HTTP document explains each of them. */
const COMMAND_FIELDS: Readonly<Record<CommandName, Readonly<Record<string, JsonSchema>>>> = {
  'order.submit': { order: { type: 'object' }, not_after: instant },
  'order.cancel': {
    ...{ order_id: string, exchange_id: string, market_id: string, client_order_id: string },
    ...{ reason: { type: 'string', maxLength: 200 }, not_after: instant },
  },
  'order.cancel_all': {
    ...{ exchange_id: string, market_id: string, token_id: string, side: side.describe() },
    ...{ emulate: { type: 'boolean' }, not_after: instant },
  },
  'order.amend': { order_id: string, price: number, not_after: instant },
};
const REQUIRED: Readonly<Record<CommandName, readonly string[]>> = {
  'order.submit': ['order'],
  'order.cancel': [],
  'order.cancel_all': ['exchange_id'],
  'order.amend': ['order_id', 'price'],
};

export function clientShape(name: ClientOp): Shape {
  const fields: JsonSchema = isControl(name)
    ? CONTROL_MESSAGES[name].describe()
    : {
        type: 'object',
        properties: COMMAND_FIELDS[name],
        required: REQUIRED[name],
        additionalProperties: false,
      };
  const { properties = {}, required = [], ...rest } = fields;
  return named(`${pascal(name)}Request`, {
    describe: () => ({
      ...rest,
      properties: { op: constant(name).describe(), req_id: reqId.describe(), ...membersOf(properties) },
      required: ['op', 'req_id', ...namesIn(required)],
    }),
  });
}

function membersOf(properties: unknown): object {
  return typeof properties === 'object' && properties !== null ? properties : {};
}

function namesIn(required: unknown): readonly unknown[] {
  return Array.isArray(required) ? required : [];
}

function pascal(name: string): string {
  return name
    .split(/[._]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}
