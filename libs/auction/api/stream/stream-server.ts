import type { Caller } from '#libs/edge/endpoint.js';
import type { WebSocket } from 'ws';
import { errorReply } from '#libs/edge/reply/flat-errors.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { MALFORMED_REQUEST } from '../refusals.js';
import type { Handshake } from '#libs/edge/server/upgrades.js';
import type { ClientCredentials } from '#libs/socket/client-connection.js';
import type { Sessions } from '#libs/socket/session-guard.js';
import type { Subscription } from '../../stream/subscriptions/subscription.js';
import type { SocketServer } from '#libs/socket/socket-server.js';

const DRAINING = errorReply(503, 'draining');
const BLIND = errorReply(503, 'auction_owner_unavailable');
const TOO_MANY = errorReply(429, 'stream_connection_limit');
const UNAUTHORIZED = errorReply(401, 'unauthorized');

/** The session and the socket of an accepted handshake. */
export interface Admission extends Pick<Handshake, 'socket'>, ClientCredentials<Caller> {}

type Connected = (ws: WebSocket, admission: Admission) => void;

/** Takes handshakes of the stream and passes their sockets to Nest, which opens them. */
export class StreamServer {
  private connected: Connected | undefined;

  constructor(
    private readonly sockets: SocketServer<Caller, Subscription>,
    private readonly sessions: Sessions<Caller>,
  ) {}

  /** Closes all connections. Clients resume at another gateway. */
  drain(): Promise<void> {
    return this.sockets.drain();
  }

  /** Sets who takes the sockets. Before that, handshakes are refused. */
  onConnected(connected: Connected): void {
    this.connected = connected;
  }

  readonly accept = ({ request, socket, head, principal, token }: Handshake): Reply | undefined => {
    const { connected } = this;
    const { hub } = this.sockets;
    if (connected === undefined || hub.isDraining) return DRAINING;
    if (hub.isBlind) return BLIND;
    if (!hub.hasRoomFor(principal.account_id)) return TOO_MANY;
    const checked = this.sessions.checkOf(token)();
    // The session was valid a moment ago. If it must be checked again, the connection does that.
    const session = checked instanceof Promise ? { principal, expiresAt: Number.MAX_SAFE_INTEGER } : checked;
    if (typeof session === 'string') return UNAUTHORIZED;
    const isOpen = this.sockets.upgrade(request, socket, head, (ws) => {
      connected(ws, { socket, token, session });
    });
    return isOpen ? undefined : MALFORMED_REQUEST;
  };

  open(ws: WebSocket, { socket, token, session }: Admission): void {
    this.sockets.open(ws, socket, { token, session });
  }
}
