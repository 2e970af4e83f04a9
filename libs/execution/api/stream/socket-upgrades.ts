import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { UpgradeHandler } from '#libs/edge/server/edge-listener.js';
import { refuse, type RefusalPorts } from '#libs/edge/server/edge-server.js';
import { bearerToken, protocolToken } from '#libs/edge/exchange/request-headers.js';
import { splitTarget } from '#libs/edge/exchange/target.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import type { SocketServer } from '#libs/socket/socket-server.js';
import type { ApiAuthenticator, CallerOutcome } from '#libs/identity/api-keys/authenticate.js';
import type { StreamCaller } from '../../stream/ports.js';
import type { OrderSubscription } from '../../stream/subscriptions.js';
import { CELL_AWAY, TOO_MANY_SOCKETS, type FrameRefusal } from '../../stream/server-messages.js';
import type { CallerSessions } from './caller-sessions.js';
import type { SocketSeats } from './socket-seats.js';

export const SOCKET_PATH = '/ws';
const KEY = /^[A-Za-z0-9+/]{22}==$/;
const VERSION = '13';

export interface SocketUpgradePorts extends RefusalPorts {
  readonly authenticator: Pick<ApiAuthenticator, 'authenticate'>;
  readonly sessions: CallerSessions;
  readonly sockets: SocketServer<StreamCaller, OrderSubscription>;
  readonly seats: SocketSeats;
  readonly onFault: (error: unknown) => void;
}

/** Accepts handshakes of `/ws`. Checks the caller first, as every call does, and then the limit of sockets. */
export class SocketUpgrades implements UpgradeHandler {
  constructor(private readonly ports: SocketUpgradePorts) {}

  accepts({ headers, url }: IncomingMessage): boolean {
    return headers.upgrade?.toLowerCase() === 'websocket' && splitTarget(url ?? '').path === SOCKET_PATH;
  }

  async handle(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const fail = (): void => {
      socket.destroy();
    };
    // Node no longer handles this socket's errors. Without a listener, an error of the peer would end the process.
    socket.on('error', fail);
    const reply = await this.answer(request, socket, head, fail);
    if (reply !== undefined) refuse(socket, reply, this.ports);
  }

  private async answer(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    fail: () => void,
  ): Promise<Reply | undefined> {
    const { dialect, sessions, sockets, seats, onFault } = this.ports;
    try {
      const outcome = await this.callerOf(request);
      if (!outcome.ok) return { status: outcome.refusal.status, body: { error: outcome.refusal.error } };
      if (request.headers['sec-websocket-version'] !== VERSION)
        return dialect.refuse({ kind: 'upgrade-required' });
      const key = request.headers['sec-websocket-key'];
      if (request.method !== 'GET' || key === undefined || !KEY.test(key)) {
        return dialect.refuse({ kind: 'malformed-request' });
      }
      const { hub } = sockets;
      if (hub.isDraining || hub.isBlind) return replyOf(CELL_AWAY);
      const user = outcome.caller.user_id;
      if (!(await seats.take(user))) return replyOf(TOO_MANY_SOCKETS, { 'retry-after': '1' });
      if (socket.destroyed) {
        seats.leave(user);
        return undefined;
      }
      socket.once('close', () => {
        seats.leave(user);
      });
      socket.off('error', fail);
      const isOpen = sockets.upgrade(request, socket, head, (ws) => {
        sockets.open(ws, socket, sessions.credentialsOf({ ...outcome, address: addressOf(request) }));
      });
      return isOpen ? undefined : dialect.refuse({ kind: 'malformed-request' });
    } catch (error) {
      onFault(error);
      return dialect.refuse({ kind: 'internal-error' });
    }
  }

  private callerOf(request: IncomingMessage): CallerOutcome | Promise<CallerOutcome> {
    const token = bearerToken(request) === undefined ? protocolToken(request) : undefined;
    return this.ports.authenticator.authenticate({
      headers: request.headers,
      ...(token === undefined ? {} : { token }),
      takesCookie: false,
      peer: addressOf(request),
      wrongTriple: 401,
    });
  }
}

function addressOf({ socket }: IncomingMessage): string {
  return socket.remoteAddress ?? '';
}

function replyOf({ status, body }: FrameRefusal, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, body, headers };
}
