import type { StreamCommandName, ControlName } from '../../stream/client-messages.js';
import { STREAM_LIMITS as LIMITS } from '../../stream/stream-limits.js';
import type { ServerMessage } from '../../stream/server-messages.js';
import { CLOSE } from '#libs/socket/socket.js';

const seconds = (millis: number): string => `${millis / 1_000} s`;

export const STREAM_INTRODUCTION = `The live side of the auctions over one WebSocket: subscriptions, commands, and everything that happens to the caller's
auctions. Calls over HTTP are described in \`/openapi.json\`; conventions, codes, idempotency and rate limits are the same here.

## Connecting

\`GET /v1/stream\` with a WebSocket handshake and the session token, in \`Authorization: Bearer <token>\`, or, where headers cannot be
set, as the two subprotocols \`authorization\` and \`Bearer.<base64url(token)>\`; the server chooses the first. A handshake
is refused like any request, in the envelope of all errors: without a valid token 401, without a handshake 426.
The refusals are those of \`openStream\` in \`/openapi.json\`. Any gateway serves any caller.

## Frames

One JSON object in each text frame, as strict as HTTP, up to 64 KiB from the client. Each client message has a \`type\` and a \`cmd_id\` of
1 to 64 printable characters, which its reply repeats. A JSON message with a \`cmd_id\` that cannot be carried out gets \`reject\`; anything
else closes the connection with ${CLOSE.badMessage}. A message that is too large closes it with 1009. A command that the session does not allow gets
\`reject\` with 403.

## The flow

1. \`hello\` within ${seconds(LIMITS.helloMillis)}, before anything else; the server answers \`welcome\`.
2. \`subscribe\` to \`auctions\` (all that the caller may see) or to one \`auction\`; the server answers \`subscribed\`, then a \`snapshot\` (in
   parts of at most ${LIMITS.snapshotPart}, \`more\` on all but the last), then \`event\`s, without a gap between. \`seq\` counts the events of a
   subscription from 1; \`timeline_seq\` is the number that the timeline over HTTP has.
3. Commands at any time. One is answered by \`ack\` or \`reject\` once its outcome is durable, and uses the same checks, buckets and
   idempotency keys as over HTTP; the same key over both is one command. After its \`not_after\` it is refused with \`COMMAND_EXPIRED\`.
4. \`heartbeat\` every ${seconds(LIMITS.heartbeatMillis)}. A client that sends nothing for ${LIMITS.silentHeartbeats} of them, not even a pong of the protocol, is closed with ${CLOSE.heartbeat}.
5. \`session_expiring\` ${seconds(LIMITS.expiryNoticeMillis)} before the session ends: send \`auth.refresh\`. A session that has ended or was revoked closes with ${CLOSE.unauthorized}.
6. \`goaway\` when the gateway is about to stop, or cannot follow a journal any more: connect to another and resume. \`bye\` ends the connection in order.

## Resuming

\`resume_token\` holds the state of the whole connection: every subscription and its progress. It comes with snapshots, with heartbeats, and
with at least one event in ${LIMITS.tokenEvents} or within ${seconds(LIMITS.tokenMillis)}; it is good for 24 hours, at any gateway, for the same caller. \`hello\` with the
latest token restores the subscriptions under the same ids, and \`seq\` goes on. With \`seen\`, the last \`seq\` received of each
subscription, nothing is lost and nothing comes twice, however long ago it was. A snapshot that had not arrived completely is sent again
after a \`resync\`, as it was, and later events follow. Earlier entries that \`after_seq\` had asked for continue where they stopped.

## Cancel on disconnect

With \`cancel_on_disconnect\` in \`hello\` the quotes submitted on this connection are withdrawn when it ends without \`bye\` and is not resumed
within \`grace_ms\` (0 to ${LIMITS.maxGraceMillis}). The latest \`hello\` decides for all quotes of a resumed connection. A crashed gateway is noticed within 3 s. If the
owner of a shard crashes as well, its successor waits for gateways after its recovery: 2.5 s, or the grace if that is longer.

## Examples

They are whole messages of a cluster with default settings. Its keys no longer exist. \`resync\` and \`session_expiring\`, which no
client gets there within a minute, come from another cluster.

## Limits

${LIMITS.subscriptions} subscriptions a connection (\`stream_subscription_limit\`), begun at most ${LIMITS.subscribesPerSecond} a second (faster requests are answered later). While ${LIMITS.requestsInFlight} commands are running, nothing
more is read. When ${LIMITS.bufferedMessages} messages or ${LIMITS.bufferedBytes / 1_048_576} MiB wait for a reader it gets \`resync\`, and a second time within ${seconds(LIMITS.overflowMillis)} it is closed with ${CLOSE.slowReader}; a reader that would miss the end of an auction is closed at once.`;

export const CLIENT_TEXTS: Readonly<Record<ControlName | StreamCommandName, string>> = {
  hello: 'The first message: a new connection, or one that goes on.',
  subscribe:
    'Subscribe to all auctions or to one; `after_seq` is the last entry of its timeline that the client knows.',
  unsubscribe: 'End a subscription.',
  'auth.refresh': 'A newer token of the same account takes over; an older one changes nothing.',
  ping: 'Answered with `pong`.',
  bye: 'Ends the connection; its quotes stay, whatever `cancel_on_disconnect` said.',
  'quote.submit': 'As `submitQuote` over HTTP.',
  'quote.revise': 'As `reviseQuote` over HTTP.',
  'quote.withdraw': 'As `withdrawQuote` over HTTP.',
  'quote.withdraw_all': 'As `withdrawAllQuotes` over HTTP.',
  'quote.preflight': 'As `preflightQuote` over HTTP.',
  'auction.cancel': 'As `cancelAuction` over HTTP.',
};

export const SERVER_TEXTS: Readonly<Record<ServerMessage, string>> = {
  welcome: 'The connection is established.',
  subscribed: 'A snapshot of the subscription follows.',
  unsubscribed: 'Nothing of this subscription follows.',
  snapshot: 'The state of the auctions of a subscription; later events follow.',
  event: "An entry of the caller's timeline of an auction.",
  ack: 'The command is done, durably.',
  reject: 'The message was refused.',
  heartbeat: 'The connection is alive; its token resumes from here.',
  pong: 'The answer to `ping`.',
  resync: 'The subscription could not be continued; a snapshot follows.',
  session_expiring: 'The session ends soon.',
  goaway: 'This gateway is about to stop, or can no longer send everything.',
};

/** A session gives access to the whole stream or to nothing, so `forbidden` cannot occur here. */
type OwnClose = Exclude<keyof typeof CLOSE, 'forbidden'>;
const OWN_CLOSES: Readonly<Record<OwnClose, string>> = {
  done: 'after `bye`',
  badMessage: 'not a JSON object with a `cmd_id`, a binary frame, or no `hello` first and in time',
  unauthorized: 'the session has expired or was revoked',
  heartbeat: 'no message arrived for three heartbeats',
  slowReader: 'too much waited, twice, or the end of an auction was among it: resume, and nothing is lost',
  draining: 'this gateway stops, or cannot go on with the connection: connect again and resume',
};

/** By code. The first four come from the WebSocket library. */
export const CLOSE_CODES: Readonly<Record<string, string>> = {
  1002: 'an invalid frame of the protocol, or one that is not masked',
  1007: 'a text frame that is not UTF-8',
  1008: 'a message in more than 16,384 fragments',
  1009: 'a frame of more than 64 KiB',
  ...Object.fromEntries(
    Object.entries(OWN_CLOSES).map(([name, text]) => [String(CLOSE[name as OwnClose]), text]),
  ),
};
