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

/** With what a handshake was let in. */
export interface Admission extends Pick<Handshake, 'socket'>, ClientCredentials<Caller> {}

type Connected = (ws: WebSocket, admission: Admission) => void;

/** Takes handshakes of the stream, and gives their sockets to Nest, which has them opened. */
export class StreamServer {
  private connected: Connected | undefined;

  constructor(
    private readonly sockets: SocketServer<Caller, Subscription>,
    private readonly sessions: Sessions<Caller>,
  ) {}

  /** Everybody goes: to another gateway, if there is one. */
  drain(): Promise<void> {
    return this.sockets.drain();
  }

  /** Who takes the sockets; until somebody does, nobody is let in. */
  onConnected(connected: Connected): void {
    this.connected = connected;
  }

  readonly accept = ({ request, socket, head, principal, token }: Handshake): Reply | undefined => {
    const { connected } = this;
    const { hub } = this.sockets;
    if (connected === undefined || hub.isDraining) return DRAINING;
    if (hub.isBlind) return BLIND;
    if (!hub.hasRoomFor(principal.account_id)) return TOO_MANY;
    const known = this.sessions.checkOf(token)();
    // It was good a moment ago; whoever has to be asked again by now will be, by the connection.
    const session = known instanceof Promise ? { principal, expiresAt: Number.MAX_SAFE_INTEGER } : known;
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
