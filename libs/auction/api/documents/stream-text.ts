import type { StreamCommandName, ControlName } from '../../stream/client-messages.js';
import { STREAM_LIMITS as LIMITS } from '../../stream/stream-limits.js';
import type { ServerMessage } from '../../stream/server-messages.js';
import { CLOSE } from '#libs/socket/socket.js';

const seconds = (millis: number): string => `${millis / 1_000} s`;

export const STREAM_INTRODUCTION = `The live side of the auctions over one WebSocket: subscriptions, commands, and everything that happens to the caller's
auctions. Calls over HTTP are described in \`/openapi.json\`; conventions, codes, idempotency and rate limits are the same here.

## Connecting

\`GET /v1/stream\` with a WebSocket handshake and the session token, in \`Authorization: Bearer <token>\`, or, where headers cannot be
set, as the two subprotocols \`authorization\` and \`Bearer.<base64url(token)>\`, of which the server chooses the first. A handshake
is refused like any request, in the envelope of all errors: without a valid token 401, with something else than a handshake 426.
The refusals are those of \`openStream\` in \`/openapi.json\`. Any gateway serves any caller.

## Frames

One JSON object in each text frame, as strict as HTTP, up to 64 KiB from the client. Each client message has a \`type\` and a \`cmd_id\` of
1 to 64 printable characters, which its reply repeats. What is JSON with a \`cmd_id\` and cannot be obeyed gets \`reject\`; anything
else closes the connection with ${CLOSE.badMessage}. A message that is too large closes it with 1009. What a session may not do gets
\`reject\` with 403.

## The flow

1. \`hello\` within ${seconds(LIMITS.helloMillis)}, before anything else; the server answers \`welcome\`.
2. \`subscribe\` to \`auctions\` (all that the caller may see) or to one \`auction\`; the server answers \`subscribed\`, then a \`snapshot\` (in
   parts of at most ${LIMITS.snapshotPart}, \`more\` on all but the last), then \`event\`s, without a hole between. \`seq\` counts the events of a
   subscription from 1; \`timeline_seq\` is the number that the timeline over HTTP has.
3. Commands at any time. One is answered by \`ack\` or \`reject\` once its outcome is durable, and takes the same way, buckets and
   idempotency keys as over HTTP; the same key over either is one command. Past its \`not_after\` it is refused with \`COMMAND_EXPIRED\`.
4. \`heartbeat\` every ${seconds(LIMITS.heartbeatMillis)}. A client that says nothing, not even the pongs of the protocol, for ${LIMITS.silentHeartbeats} of them is closed with ${CLOSE.heartbeat}.
5. \`session_expiring\` ${seconds(LIMITS.expiryNoticeMillis)} before the session ends: send \`auth.refresh\`. A session that has ended or was revoked closes with ${CLOSE.unauthorized}.
6. \`goaway\` when the gateway is about to stop, or cannot follow a journal any more: connect to another and resume. \`bye\` ends the connection in order.

## Resuming

\`resume_token\` stands for the whole connection: every subscription and how far it has come. It comes with snapshots, with heartbeats, and
with at least one event in ${LIMITS.tokenEvents} or within ${seconds(LIMITS.tokenMillis)}; it is good for 24 hours, at any gateway, for the same caller. \`hello\` with the
latest one brings the subscriptions back under the same ids, and \`seq\` goes on. With \`seen\`, the last \`seq\` received of each
subscription, nothing is lost and nothing comes twice, however long ago it was. A snapshot that had not arrived whole is shown again
behind a \`resync\`, as it was, and what has happened since follows. What was being told from before, behind \`after_seq\`, goes on where it was.

## Cancel on disconnect

With \`cancel_on_disconnect\` in \`hello\` the quotes submitted on this connection are withdrawn when it ends without \`bye\` and is not resumed
within \`grace_ms\` (0 to ${LIMITS.maxGraceMillis}). The latest \`hello\` decides for all quotes of a resumed connection. A gateway that dies is noticed within 3 s. Where the
owner of a shard dies as well, its successor waits for gateways for 2.5 s, or for the grace if that is longer, once it has recovered.

## Examples

They are whole messages of a cluster with default settings that is gone, and its keys with it. \`resync\` and \`session_expiring\`, which no
client sees there in a minute, are of another.

## Limits

${LIMITS.subscriptions} subscriptions a connection (\`stream_subscription_limit\`), begun at ${LIMITS.subscribesPerSecond} a second (who asks faster is answered later), and at ${LIMITS.requestsInFlight} commands in work nothing
more is read. When ${LIMITS.bufferedMessages} messages or ${LIMITS.bufferedBytes / 1_048_576} MiB wait for a reader it gets \`resync\`, and a second time within ${seconds(LIMITS.overflowMillis)} it is closed with ${CLOSE.slowReader}; so is at once whoever would not be told how an auction ended.`;

export const CLIENT_TEXTS: Readonly<Record<ControlName | StreamCommandName, string>> = {
  hello: 'The first message: a new connection, or one that goes on.',
  subscribe: 'Hear of all auctions, or of one; `after_seq` tells what is already known of its timeline.',
  unsubscribe: 'Hear no more of it.',
  'auth.refresh': 'A newer token of the same account takes over; an older one changes nothing.',
  ping: 'Answered with `pong`.',
  bye: 'Ends the connection in order; quotes stand, whatever `cancel_on_disconnect` said.',
  'quote.submit': 'As `submitQuote` over HTTP.',
  'quote.revise': 'As `reviseQuote` over HTTP.',
  'quote.withdraw': 'As `withdrawQuote` over HTTP.',
  'quote.withdraw_all': 'As `withdrawAllQuotes` over HTTP.',
  'quote.preflight': 'As `preflightQuote` over HTTP.',
  'auction.cancel': 'As `cancelAuction` over HTTP.',
};

export const SERVER_TEXTS: Readonly<Record<ServerMessage, string>> = {
  welcome: 'The connection stands.',
  subscribed: 'A snapshot of the subscription follows.',
  unsubscribed: 'Nothing of this subscription follows.',
  snapshot: 'How the auctions of a subscription stand; events go on from here.',
  event: "An entry of the caller's timeline of an auction.",
  ack: 'The command is done, durably.',
  reject: 'The message was not obeyed.',
  heartbeat: 'The connection lives; resume from here.',
  pong: 'The answer to `ping`.',
  resync: 'The subscription could not be continued; a snapshot follows.',
  session_expiring: 'The session ends soon.',
  goaway: 'This gateway is about to stop, or cannot tell everything any more.',
};

/** A token holds for all of the stream or for nothing. */
type OwnClose = Exclude<keyof typeof CLOSE, 'forbidden'>;
const OWN_CLOSES: Readonly<Record<OwnClose, string>> = {
  done: 'after `bye`',
  badMessage: 'no JSON object with a `cmd_id`, a binary frame, or not `hello` first and in time',
  unauthorized: 'the session has expired or was revoked',
  heartbeat: 'nothing was heard for three heartbeats',
  slowReader: 'more waited than may, twice, or the end of an auction among it: resume, and nothing is lost',
  draining: 'this gateway stops, or cannot go on with the connection: connect again and resume',
};

/** By code. The first four are the WebSocket library's own. */
export const CLOSE_CODES: Readonly<Record<string, string>> = {
  1002: 'what is no frame of the protocol, or one that is not masked',
  1007: 'a text frame that is not UTF-8',
  1008: 'a message in more than 16,384 fragments',
  1009: 'a frame of more than 64 KiB',
  ...Object.fromEntries(
    Object.entries(OWN_CLOSES).map(([name, text]) => [String(CLOSE[name as OwnClose]), text]),
  ),
};
