import type { Caller } from '#libs/edge/endpoint.js';
import { WebSocketServer, type WebSocket } from 'ws';
import { errorReply } from '#libs/edge/reply/flat-errors.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { MALFORMED_REQUEST } from '../refusals.js';
import type { Handshake } from '#libs/edge/server/upgrades.js';
import type { Sessions } from '#libs/socket/session-guard.js';
import type { StreamHub } from '../../stream/stream-hub.js';
import { Departures } from '#libs/socket/departures.js';
import { StreamWebSocket } from '#libs/socket/web-socket.js';

/** A longer frame is closed with 1009 by the WebSocket library. */
const MAX_FRAME_BYTES = 64 * 1024;
/** How long clients that were told to go are waited for. */
const DRAIN_MILLIS = 1_000;
const SUBPROTOCOL = 'authorization';
const NO_CLOSE_FRAME = 1006;

const DRAINING = errorReply(503, 'draining');
const BLIND = errorReply(503, 'auction_owner_unavailable');
const TOO_MANY = errorReply(429, 'stream_connection_limit');
const UNAUTHORIZED = errorReply(401, 'unauthorized');

/** With what a handshake was let in. */
export interface Admission extends Pick<Handshake, 'socket' | 'token'> {
  readonly session: Parameters<StreamHub['open']>[1]['session'];
}

type Connected = (ws: WebSocket, admission: Admission) => void;

/** Makes sockets of handshakes, and connections of sockets. */
export class StreamServer {
  private readonly sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    clientTracking: false,
    // By itself it cuts off whoever sends many pings at once.
    autoPong: false,
    handleProtocols: (protocols) => (protocols.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  });
  private readonly departures = new Departures();
  private connected: Connected | undefined;
  /** What the WebSocket library cannot read of a handshake, such as its subprotocols. */
  private refusal: Reply | undefined;

  constructor(
    private readonly hub: StreamHub,
    private readonly sessions: Sessions<Caller>,
    private readonly onFault: (error: unknown) => void,
  ) {
    // By itself it would answer in words of its own.
    this.sockets.on('wsClientError', () => {
      this.refusal = MALFORMED_REQUEST;
    });
  }

  /** Everybody goes: to another gateway, if there is one. */
  drain(): Promise<void> {
    return this.hub.drain(DRAIN_MILLIS);
  }

  /** Who takes the sockets; until somebody does, nobody is let in. */
  onConnected(connected: Connected): void {
    this.connected = connected;
  }

  readonly accept = ({ request, socket, head, principal, token }: Handshake): Reply | undefined => {
    const { connected } = this;
    if (connected === undefined || this.hub.isDraining) return DRAINING;
    if (this.hub.isBlind) return BLIND;
    if (!this.hub.hasRoomFor(principal.account_id)) return TOO_MANY;
    const known = this.sessions.checkOf(token)();
    // It was good a moment ago; whoever has to be asked again by now will be, by the connection.
    const session = known instanceof Promise ? { principal, expiresAt: Number.MAX_SAFE_INTEGER } : known;
    if (typeof session === 'string') return UNAUTHORIZED;
    this.refusal = undefined;
    this.sockets.handleUpgrade(request, socket, head, (ws) => {
      connected(ws, { socket, token, session });
    });
    return this.refusal;
  };

  /** In the same turn as the handshake, so that no message comes before somebody hears it. */
  open(ws: WebSocket, { socket, token, session }: Admission): void {
    ws.on('error', () => undefined);
    try {
      this.attach(ws, new StreamWebSocket(ws, socket, this.departures), { token, session });
    } catch (error) {
      // Whoever called has no use for it, and a process must not end by one socket.
      this.onFault(error);
      ws.terminate();
    }
  }

  private attach(
    ws: WebSocket,
    ours: StreamWebSocket,
    credentials: Pick<Admission, 'token' | 'session'>,
  ): void {
    const connection = this.hub.open(ours, credentials);
    ws.on('message', (data, isBinary) => {
      try {
        if (isBinary) connection.onBinary();
        else connection.onText(textOf(data));
      } catch (error) {
        this.onFault(error);
        ws.terminate();
      }
    });
    ws.on('ping', (data) => {
      connection.onAlive();
      ours.pongTo(data);
    });
    ws.on('pong', () => {
      connection.onAlive();
    });
    ws.on('close', (code) => {
      this.hub.closed(connection, ours.closedWith ?? (code === 0 ? NO_CLOSE_FRAME : code));
    });
  }
}

function textOf(data: Parameters<Parameters<WebSocket['on']>[1]>[0]): string {
  return String(data);
}
