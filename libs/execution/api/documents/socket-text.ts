import { CLOSE } from '#libs/socket/socket.js';
import type { SocketMessage } from '../../stream/server-messages.js';
import { SOCKET_LIMITS as LIMITS } from '../../stream/socket-limits.js';
import type { ClientOp } from './socket-shapes.js';

const seconds = (millis: number): string => `${millis / 1_000} s`;

export const SOCKET_INTRODUCTION = `The live interface of order execution over one WebSocket: changes of the caller's orders and fills, and the same
commands as over HTTP.

## Connecting

\`GET /ws\` with a WebSocket handshake and credentials: the three headers of an API key, or the session token in
\`Authorization: Bearer <token>\`. A client that cannot set headers sends the two subprotocols \`authorization\` and
\`Bearer.<base64url(token)>\`. Cookies are ignored. Refusals are those of HTTP: 401, 403, 429.

## Frames

Each text frame has one JSON object, with the same rules as over HTTP, and up to 64 KiB from the client. Each message of a client has an
\`op\` and a \`req_id\` of 1 to 64 printable characters, which its reply repeats. A message that is refused gets an \`error\` with the status and
body of HTTP, and the socket stays open. A malformed message, or a first message other than \`hello\`, closes the socket with ${CLOSE.badMessage}.

## The flow

1. \`hello\` within ${seconds(LIMITS.helloMillis)}; the server answers \`welcome\`.
2. \`subscribe\` to \`orders\`, of all venues or of some (scope \`trade:read\`). A \`snapshot\` of the live orders follows in parts of at most
   ${LIMITS.snapshotPart}, with \`more\` on all but the last, and then every change. \`seq\` counts on from the snapshot without gaps. Every
   \`version\` of an order is sent once and in order, and each \`fill\` before the \`order_update\` that contains it.
3. Commands at any time (scope \`trade:execute\`). They run in order. Each gets an \`ack\` with the reply of HTTP, or an \`error\`.
4. \`heartbeat\` every ${seconds(LIMITS.heartbeatMillis)}. A client that sends nothing, not even WebSocket pongs, for ${LIMITS.silentHeartbeats} heartbeats is closed with ${CLOSE.heartbeat}.
5. \`session_expiring\` ${seconds(LIMITS.expiryNoticeMillis)} before a session ends. Then send \`auth.refresh\`.
6. \`provider_access\` when operators switch the access of API keys to a venue. While access is denied, nothing of the venue is sent or
   numbered. When access returns, \`resync\` and a snapshot follow.

## Resuming

\`resume_token\` stands for the whole connection: every subscription and its progress. It comes with snapshots, with heartbeats, and with
at least one message in ${LIMITS.tokenEvents} or within ${seconds(LIMITS.tokenMillis)}. It is valid for 24 hours and for the same caller. \`hello\` with the latest token restores the
subscriptions under the same ids. Add \`seen\`, the last \`seq\` received of each subscription, and nothing is lost or sent twice.

## Cancel on disconnect

An order stays live when its socket is lost. With \`cancel_on_disconnect\` in \`hello\`, the orders of the connection are cancelled if it is not
resumed within \`grace_ms\` (0 to ${LIMITS.maxGraceMillis}). The latest \`hello\` decides. After \`bye\` the orders stay.

## Limits

Ten sockets per user, ${LIMITS.subscriptions} subscriptions per connection. When ${LIMITS.bufferedMessages} messages or ${LIMITS.bufferedBytes / 1_048_576} MiB wait for a reader, it gets \`resync\`.
The second time within ${seconds(LIMITS.overflowMillis)} it is closed with ${CLOSE.slowReader}. It is closed at once if a fill or the end of an order would be dropped.`;

export const CLIENT_TEXTS: Readonly<Record<ClientOp, string>> = {
  hello: 'The first message. It begins a connection or resumes one.',
  subscribe: 'Subscribe to orders, of all venues or of some.',
  unsubscribe: 'End a subscription.',
  'auth.refresh': 'Replace the session token by a newer one of the same user. A key cannot be replaced.',
  ping: 'Answered with `pong`.',
  bye: 'Close the connection in order. Its orders stay.',
  'order.submit': 'The same as `POST /orders`.',
  'order.cancel':
    'The same as `POST /orders/{order_id}/cancel`, or as a cancel by `exchange_id, market_id, client_order_id`.',
  'order.cancel_all': 'The same as `POST /orders/cancel-all`.',
  'order.amend': 'The same as `POST /orders/{order_id}/amend`.',
};

export const SERVER_TEXTS: Readonly<Record<SocketMessage, string>> = {
  welcome: 'The connection is open.',
  subscribed: 'A snapshot of the subscription follows.',
  unsubscribed: 'No more messages of this subscription follow.',
  snapshot: 'The live orders. Changes after this moment follow.',
  order_update: 'An order has a new version.',
  fill: 'A fill is booked. The update of its order follows.',
  settlement: 'A fill was settled, or failed to settle.',
  fill_reversal: 'A fill failed to settle, and balances are restored.',
  external: 'Money or tokens moved at the venue, but not by orders.',
  ack: 'The command was done. Has the reply of HTTP.',
  error: 'The message was refused. Has the status and body of HTTP.',
  heartbeat: 'The connection is alive. Resume from here.',
  pong: 'The answer to `ping`.',
  provider_access: 'The access of API keys to a venue has changed.',
  resync: 'The subscription could not go on without a gap. A snapshot follows.',
  session_expiring: 'The session ends soon.',
  goaway: 'This process is about to stop, or can no longer send all events.',
};

const OWN_CLOSES: Readonly<Record<keyof typeof CLOSE, string>> = {
  done: 'after `bye`',
  badMessage: 'not a JSON object with an `op` and a `req_id`, a binary frame, or no `hello` first or in time',
  unauthorized: 'the key or session is no longer valid',
  forbidden: 'the key may no longer be used from this address, or has lost `trade:read`',
  heartbeat: 'nothing was received for three heartbeats',
  slowReader:
    'too many messages waited, twice, or a fill or the end of an order was among them. Resume, and nothing is lost',
  draining: 'this process stops, or cannot go on with the connection. Connect again and resume',
};

/** By close code. The WebSocket library itself sends the first four. */
export const CLOSE_CODES: Readonly<Record<string, string>> = {
  1002: 'not a valid frame of the protocol, or a frame without a mask',
  1007: 'a text frame that is not UTF-8',
  1008: 'a message in more than 16,384 fragments',
  1009: 'a frame of more than 64 KiB',
  ...Object.fromEntries(Object.entries(CLOSE).map(([name, code]) => [String(code), textOf(name)])),
};

function textOf(name: string): string {
  return Object.entries(OWN_CLOSES).find(([known]) => known === name)?.[1] ?? '';
}

/** By field name, or by message and field name. */
export const SOCKET_FIELD_MEANINGS: Readonly<Record<string, string>> = {
  op: 'The operation.',
  type: 'The type of the message.',
  req_id: 'The client’s id of its message. The reply repeats it.',
  resume_token: 'Stands for the whole connection up to this message.',
  seen: 'The last `seq` received of each subscription.',
  cancel_on_disconnect: 'Cancels the orders of this connection when it is lost.',
  grace_ms: 'How long the connection may stay lost.',
  channel: 'The channel.',
  exchange_ids: 'The venues. Absent means all.',
  subscription_id: 'The id of the subscription within its connection.',
  seq: 'Numbers the messages of the subscription, without gaps.',
  token: 'A session token.',
  order: 'The order. In a command as in `POST /orders`, otherwise a row as in lists.',
  not_after: 'The command is not sent to the venue after this time.',
  order_id: 'The id of the order.',
  client_order_id: 'The caller’s own id of the order.',
  exchange_id: 'The venue.',
  market_id: 'The venue’s own short id of the market.',
  token_id: 'The outcome token, if the venue has tokens.',
  reason: 'The reason.',
  side: 'Whether the order buys or sells the outcome.',
  emulate: 'Cancel orders one by one if the venue has no cancel-all.',
  price: 'In dollars, for the outcome that is traded.',
  connection_id: 'The id of the connection, across all its sockets.',
  server_time: 'The time of this process.',
  session_expires_at: 'When the session ends. Absent for keys.',
  heartbeat_ms: 'The time between two heartbeats.',
  resumed: 'Whether an earlier connection was resumed.',
  subscriptions: 'The subscriptions of the connection.',
  orders: 'Live orders, newest first.',
  more: 'Whether another part of the snapshot follows.',
  tx_hash: 'The hash of the transaction.',
  settlement_status: 'The state of the settlement. Most venues have none.',
  fill_id: 'A stable id of the fill.',
  kind: 'The kind.',
  asset: 'A currency or a token.',
  amount: 'A decimal. For a movement, a positive amount came in.',
  entry_id: 'The id of the ledger entry.',
  occurred_at: 'When it happened, by the clock of the venue.',
  result: 'The body of the reply over HTTP.',
  idempotent_replay: 'The order was already accepted under this key.',
  idempotent_mismatch: 'The command differs from the order that was accepted under this key.',
  status: 'The HTTP status of an error, or the status of an order.',
  error: 'An explanation for people.',
  code: 'The code of the error. Programs should use the code in `error_details`.',
  error_details: 'The error, for programs.',
  details: 'Further details.',
  metadata: 'In an error, whether trying again may help. Absent in rows of orders.',
  enabled: 'Null means unknown.',
  origin: 'Whether the order was submitted here.',
  exchange_order_id: 'The venue’s id of the order.',
  outcome: 'The label of the outcome.',
  time_in_force: 'As the caller wrote it.',
  post_only: 'Whether the order must not take liquidity.',
  quantity: 'In shares.',
  requested: 'The values that the caller wrote.',
  sent: 'The values that were sent to the venue.',
  filled_quantity: 'The sum of the fills.',
  remaining_quantity: 'The quantity left to trade.',
  average_fill_price: 'Rounded against the caller.',
  fees: 'The sum of the fees of all fills.',
  currency: 'The settlement currency.',
  source: 'The source.',
  max_slippage_cents: 'As the caller wrote it.',
  max_slippage: 'As the caller wrote it.',
  expiration_minutes: 'As the caller wrote it.',
  max_retries: 'As the caller wrote it.',
  attempts: 'How often the order was sent.',
  collateral: 'As the caller wrote it.',
  funding: 'What was moved to fund the order.',
  bot_id: 'As the caller wrote it.',
  submittedAt: 'When the order was accepted.',
  updated_at: 'When this version was made.',
  terminal_at: 'When the order ended.',
  expires_at: 'When the order expires.',
  cancel_requested_at: 'When the cancel was accepted.',
  stalled: 'Whether the order has waited too long for the venue.',
  stalled_since: 'Since when.',
  terminal_reason: 'Why the order ended.',
  failure: 'Why the order failed.',
  version: 'Rises by one with every change.',
  raw: 'Absent in rows.',
  fee: 'The fee of the fill.',
  liquidity: 'Whether the order was the maker or the taker.',
  venue_trade_id: 'The venue’s id of the trade.',
  synthetic: 'The fill has no order of the user. A pair was made or dissolved.',
};
