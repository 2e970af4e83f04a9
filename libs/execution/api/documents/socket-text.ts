import { CLOSE } from '#libs/socket/socket.js';
import type { SocketMessage } from '../../stream/server-messages.js';
import { SOCKET_LIMITS as LIMITS } from '../../stream/socket-limits.js';
import type { ClientOp } from './socket-shapes.js';

const seconds = (millis: number): string => `${millis / 1_000} s`;

export const SOCKET_INTRODUCTION = `The live side of order execution over one WebSocket: the caller's orders and fills as they change, and the commands of
the calls over HTTP.

## Connecting

\`GET /ws\` with a WebSocket handshake and what every call needs: the three headers of an API key, or the session token in
\`Authorization: Bearer <token>\`, or, where headers cannot be set, as the two subprotocols \`authorization\` and
\`Bearer.<base64url(token)>\`. A cookie counts for nothing here. Refusals are those of HTTP: 401, 403, 429.

## Frames

One JSON object in each text frame, as strict as HTTP, up to 64 KiB from the client. Each message of a client has an \`op\` and a
\`req_id\` of 1 to 64 printable characters, which its reply repeats. What cannot be obeyed is answered by \`error\`, with the status and the
body of the same refusal over HTTP, and the socket stays. What is no such message, or not \`hello\` first, closes with ${CLOSE.badMessage}.

## The flow

1. \`hello\` within ${seconds(LIMITS.helloMillis)}; the server answers \`welcome\`.
2. \`subscribe\` to \`orders\`, of all venues or of some (scope \`trade:read\`): a \`snapshot\` of the live orders in parts of at most
   ${LIMITS.snapshotPart}, \`more\` on all but the last, and then everything that happens. \`seq\` counts from that of the snapshot on, without holes. Every
   \`version\` of an order is told once and in order, and a \`fill\` before the \`order_update\` that contains it.
3. Commands at any time (scope \`trade:execute\`), taken in order, each answered by \`ack\` with the reply of HTTP, or by \`error\`.
4. \`heartbeat\` every ${seconds(LIMITS.heartbeatMillis)}. A client that says nothing, not even the pongs of the protocol, for ${LIMITS.silentHeartbeats} of them is closed with ${CLOSE.heartbeat}.
5. \`session_expiring\` ${seconds(LIMITS.expiryNoticeMillis)} before a session ends: send \`auth.refresh\`.
6. \`provider_access\` where operators switch the access of keys to a venue: while it is denied, nothing of it is told and nothing of it
   counts; when it returns, \`resync\` and a snapshot follow.

## Resuming

\`resume_token\` stands for the whole connection: every subscription and how far it has come. It comes with snapshots, with heartbeats, and with
at least one message in ${LIMITS.tokenEvents} or within ${seconds(LIMITS.tokenMillis)}; it is good for 24 hours and for the same caller. \`hello\` with the latest one brings the subscriptions
back under the same ids, and with \`seen\`, the last \`seq\` received of each, nothing is lost and nothing comes twice.

## Cancel on disconnect

An order stands when its socket drops. With \`cancel_on_disconnect\` in \`hello\`, those submitted on the connection are cancelled when it is not
resumed within \`grace_ms\` (0 to ${LIMITS.maxGraceMillis}); the latest \`hello\` decides, and \`bye\` leaves them standing.

## Limits

Ten sockets a user, ${LIMITS.subscriptions} subscriptions a connection. When ${LIMITS.bufferedMessages} messages or ${LIMITS.bufferedBytes / 1_048_576} MiB wait for a reader it gets \`resync\`, and a second
time within ${seconds(LIMITS.overflowMillis)} it is closed with ${CLOSE.slowReader}; so is at once whoever would not be told of a fill or of the end of an order.`;

export const CLIENT_TEXTS: Readonly<Record<ClientOp, string>> = {
  hello: 'The first message: a new connection, or one that goes on.',
  subscribe: 'Hear of the orders, of all venues or of some.',
  unsubscribe: 'Hear no more of it.',
  'auth.refresh': 'A newer token of the same user takes over; a key cannot be replaced.',
  ping: 'Answered with `pong`.',
  bye: 'Ends the connection in order; its orders stand.',
  'order.submit': 'As `POST /orders`.',
  'order.cancel': 'As `POST /orders/{order_id}/cancel`, or by `exchange_id, market_id, client_order_id`.',
  'order.cancel_all': 'As `POST /orders/cancel-all`.',
  'order.amend': 'As `POST /orders/{order_id}/amend`.',
};

export const SERVER_TEXTS: Readonly<Record<SocketMessage, string>> = {
  welcome: 'The connection stands.',
  subscribed: 'A snapshot of the subscription follows.',
  unsubscribed: 'Nothing of this subscription follows.',
  snapshot: 'The live orders; what happens goes on from here.',
  order_update: 'An order has a new version.',
  fill: 'A fill is booked; the order that contains it follows.',
  settlement: 'A fill has settled, or has not.',
  fill_reversal: 'A fill has failed to settle: balances are restored.',
  external: 'Money or tokens moved at the venue other than by orders.',
  ack: 'The command is done: the reply over HTTP.',
  error: 'The message was not obeyed: the status and the body of the refusal over HTTP.',
  heartbeat: 'The connection lives; resume from here.',
  pong: 'The answer to `ping`.',
  provider_access: 'Whether keys may reach the venue has changed.',
  resync: 'The subscription could not be continued; a snapshot follows.',
  session_expiring: 'The session ends soon.',
  goaway: 'This process is about to stop, or cannot tell everything any more.',
};

const OWN_CLOSES: Readonly<Record<keyof typeof CLOSE, string>> = {
  done: 'after `bye`',
  badMessage: 'no JSON object with an `op` and a `req_id`, a binary frame, or not `hello` first and in time',
  unauthorized: 'the key or the session does not hold any more',
  forbidden: 'the key may not be used from this address any more, or has lost `trade:read`',
  heartbeat: 'nothing was heard for three heartbeats',
  slowReader:
    'more waited than may, twice, or a fill or the end of an order among it: resume, and nothing is lost',
  draining: 'this process stops, or cannot go on with the connection: connect again and resume',
};

/** By code. The first four are the WebSocket library's own. */
export const CLOSE_CODES: Readonly<Record<string, string>> = {
  1002: 'what is no frame of the protocol, or one that is not masked',
  1007: 'a text frame that is not UTF-8',
  1008: 'a message in more than 16,384 fragments',
  1009: 'a frame of more than 64 KiB',
  ...Object.fromEntries(Object.entries(CLOSE).map(([name, code]) => [String(code), textOf(name)])),
};

function textOf(name: string): string {
  return Object.entries(OWN_CLOSES).find(([known]) => known === name)?.[1] ?? '';
}

/** By the name of the field, or by that of its message and the field. */
export const SOCKET_FIELD_MEANINGS: Readonly<Record<string, string>> = {
  op: 'What the client wants.',
  type: 'Which message it is.',
  req_id: 'The name that the client gives its message; the reply repeats it.',
  resume_token: 'Stands for the whole connection up to here.',
  seen: 'The last `seq` received of each subscription.',
  cancel_on_disconnect: 'Cancels the orders of this connection when it is lost.',
  grace_ms: 'How long it may stay lost.',
  channel: 'What is heard of.',
  exchange_ids: 'The venues; all when absent.',
  subscription_id: 'Names the subscription within its connection.',
  seq: 'Counts what the subscription is told, without holes.',
  token: 'A session token.',
  order: 'The order: of a command as in `POST /orders`, else a row as lists show it.',
  not_after: 'What is not with the venue by then is not sent.',
  order_id: 'Names the order.',
  client_order_id: 'The name that the caller gave the order.',
  exchange_id: 'The venue.',
  market_id: "The venue's own short name of the market.",
  token_id: 'The outcome token, where the venue has them.',
  reason: 'Why.',
  side: 'Of the order: buys or sells the outcome.',
  emulate: 'One by one, where the venue has no cancel of all.',
  price: 'In dollars of its own outcome.',
  connection_id: 'Names the connection, over all its sockets.',
  server_time: 'The time of this process.',
  session_expires_at: 'When the session ends; absent for keys.',
  heartbeat_ms: 'Time between two heartbeats.',
  resumed: 'Whether it goes on with an earlier connection.',
  subscriptions: 'Those of the connection.',
  orders: 'Live orders, newest first.',
  more: 'Whether another part of the snapshot follows.',
  tx_hash: 'The transaction.',
  settlement_status: 'What became of the settlement; most venues have none.',
  fill_id: 'The same wherever and however often the fill is told.',
  kind: 'Which kind it is.',
  asset: 'A currency or a token.',
  amount: 'A decimal; of a movement, positive comes in.',
  entry_id: 'The entry of the ledger.',
  occurred_at: 'When, by the venue.',
  result: 'The reply over HTTP.',
  idempotent_replay: 'The order was there already.',
  idempotent_mismatch: 'What was sent differs from the order that stands.',
  status: 'Of an error that of HTTP, of an order its state.',
  error: 'What is wrong, in words.',
  code: 'What is wrong; programs look at that of `error_details`.',
  error_details: 'What is wrong, for programs.',
  details: 'More about it.',
  metadata: 'Of an error whether trying again may help; absent in rows of orders.',
  enabled: 'Null: it cannot be known.',
  origin: 'Whether we made it.',
  exchange_order_id: "The venue's name of the order.",
  outcome: 'The label of the outcome.',
  time_in_force: 'As asked for.',
  post_only: 'It never takes.',
  quantity: 'In shares.',
  requested: 'What the caller wrote.',
  sent: 'What was sent to the venue.',
  filled_quantity: 'The sum of the fills.',
  remaining_quantity: 'What is left to trade.',
  average_fill_price: 'Rounded against the caller.',
  fees: 'The sum over the fills.',
  currency: 'The settlement currency.',
  source: 'Where it comes from.',
  max_slippage_cents: 'As asked for.',
  max_slippage: 'As asked for.',
  expiration_minutes: 'As asked for.',
  max_retries: 'As asked for.',
  attempts: 'How often it was sent.',
  collateral: 'As asked for.',
  funding: 'What was moved for it.',
  bot_id: 'As asked for.',
  submittedAt: 'When it was accepted.',
  updated_at: 'When its version was made.',
  terminal_at: 'When it ended.',
  expires_at: 'When it ends by itself.',
  cancel_requested_at: 'When its cancel was accepted.',
  stalled: 'It waits for the venue for too long.',
  stalled_since: 'Since when.',
  terminal_reason: 'Why it ended.',
  failure: 'Why it failed.',
  version: 'Rises by one with every change.',
  raw: 'Absent in rows.',
  fee: 'What the fill has cost.',
  liquidity: 'Who was there first.',
  venue_trade_id: "The venue's name of the trade.",
  synthetic: 'No order of the user: a pair was made or dissolved.',
};
