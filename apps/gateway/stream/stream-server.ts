import { WebSocketServer, type WebSocket } from 'ws';
import { errorReply, type Reply } from '#libs/edge/reply.js';
import type { Handshake } from '#libs/edge/upgrades.js';
import type { Sessions } from '#libs/stream/ports.js';
import type { StreamHub } from '#libs/stream/stream-hub.js';
import { StreamWebSocket } from './web-socket.js';

/** A longer frame is closed with 1009 by the WebSocket library. */
const MAX_FRAME_BYTES = 64 * 1024;
/** How long clients that were told to go are waited for. */
const DRAIN_MILLIS = 1_000;
const SUBPROTOCOL = 'authorization';
const NO_CLOSE_FRAME = 1006;

const DRAINING = errorReply(503, 'draining');
const TOO_MANY = errorReply(429, 'stream_connection_limit');
const UNAUTHORIZED = errorReply(401, 'unauthorized');

/** Makes connections of handshakes. */
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

  constructor(
    private readonly hub: StreamHub,
    private readonly sessions: Sessions,
  ) {}

  /** Everybody goes: to another gateway, if there is one. */
  drain(): Promise<void> {
    return this.hub.drain(DRAIN_MILLIS);
  }

  readonly accept = ({ request, socket, head, principal, token }: Handshake): Reply | undefined => {
    if (this.hub.isDraining) return DRAINING;
    if (!this.hub.hasRoomFor(principal.account_id)) return TOO_MANY;
    const session = this.sessions.check(token);
    // It was good a moment ago; whoever has to be asked again by now will be, by the connection.
    const known = session instanceof Promise ? { principal, expiresAt: Number.MAX_SAFE_INTEGER } : session;
    if (typeof known === 'string') return UNAUTHORIZED;
    this.sockets.handleUpgrade(request, socket, head, (ws) => {
      const ours = new StreamWebSocket(ws, socket);
      const connection = this.hub.open(ours, token, known);
      ws.on('message', (data, isBinary) => {
        if (isBinary) connection.onBinary();
        else connection.onText(textOf(data));
      });
      ws.on('ping', (data) => {
        connection.onAlive();
        ours.pongTo(data);
      });
      ws.on('pong', () => {
        connection.onAlive();
      });
      ws.on('error', () => undefined);
      ws.on('close', (code) => {
        this.hub.closed(connection, ours.closedWith ?? (code === 0 ? NO_CLOSE_FRAME : code));
      });
    });
    return undefined;
  };
}

function textOf(data: Parameters<Parameters<WebSocket['on']>[1]>[0]): string {
  return String(data);
}
