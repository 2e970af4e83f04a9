import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { ServerLimits } from './server-limits.js';

export type BodyFault = 'malformed' | 'timeout' | 'gone';

/** `too-many`: refuse the request and close the connection. */
export type ConnectionVerdict = 'welcome' | 'too-many';

interface Waiting {
  readonly request: IncomingMessage;
  readonly begin: () => void;
}

/** The state of one connection; forgotten with its socket. */
interface Connection {
  readonly socket: Duplex;
  /** In order of arrival; the first one runs, and the others start when it is their turn. */
  readonly line: Waiting[];
  served: number;
  /** Undefined until the first request. */
  latest: IncomingMessage | undefined;
  /** It has switched to another protocol, and to another owner. */
  isHandedOver: boolean;
  /** Nothing after the latest request is read as a request. */
  ending: boolean;
  /** The request whose reply closes the connection. */
  closing: IncomingMessage | undefined;
  /** The reader that waits for the body of the latest request. */
  bodyFailed: ((fault: BodyFault) => void) | undefined;
  /** The failure of that body, if it came before a reader waited for it. */
  bodyFault: BodyFault | undefined;
  whenIdle: (() => void) | undefined;
}

export type LineLimits = Pick<
  ServerLimits,
  | 'pipelinedRequests'
  | 'waitingRequests'
  | 'requestsPerConnection'
  | 'partingTimeout'
  | 'lastBodyTimeout'
  | 'lastAnswerTimeout'
>;

/**
 * The requests of each connection wait in a queue: one starts when the kernel has taken the reply before it, so nothing is computed
 * for a client that does not read. The queue is bounded, and a parse error is matched to its request.
 */
export class Connections {
  private readonly known = new Map<Duplex, Connection>();
  /** Requests on all connections, after the first of each. */
  private waiting = 0;
  private draining = false;
  private isOver = false;
  private moment: Promise<void> = Promise.resolve();

  constructor(
    private readonly limits: LineLimits,
    private readonly clock: Clock,
  ) {}

  /** A peer has connected. It may never send a request. */
  opened(socket: Duplex): void {
    if (this.isOver) {
      socket.destroy();
      return;
    }
    const connection = this.add(socket);
    if (this.draining) this.partSoon(connection);
  }

  /** The connection no longer carries requests. It is counted until it ends, because the listener waits for it. */
  handOver(socket: Duplex): void {
    const connection = this.known.get(socket);
    if (connection !== undefined) connection.isHandedOver = true;
  }

  /**
   * From now on every reply is the last on its connection. Idle connections close after a moment, in which a request in transit is
   * still answered. Bodies have a short time limit. `onCut` gets the number of connections that were cut off at the end.
   */
  drain(onCut: (connections: number) => void): void {
    if (this.draining) return;
    this.draining = true;
    this.moment = pause(this.clock, this.limits.partingTimeout);
    for (const connection of this.known.values()) {
      this.partSoon(connection);
      if (connection.latest !== undefined) this.expectBody(connection, connection.latest);
    }
    this.clock.after(this.limits.lastAnswerTimeout, () => {
      this.isOver = true;
      if (this.known.size > 0) onCut(this.known.size);
      for (const socket of this.known.keys()) socket.destroy();
    });
  }

  /** Resolves when the moment of idle connections is over; at once if there are none. */
  parting(): Promise<void> {
    return this.known.size === 0 ? Promise.resolve() : this.moment;
  }

  /** Calls `begin` when it is the request's turn: at once, later, or never if its connection ends before. */
  enter(
    request: IncomingMessage,
    response: ServerResponse,
    begin: (verdict: ConnectionVerdict) => void,
  ): void {
    const connection = this.known.get(request.socket) ?? this.add(request.socket);
    if (connection.ending) return;
    const { line } = connection;
    connection.latest = request;
    connection.bodyFailed = undefined;
    connection.served += 1;
    const isFirst = line.length === 0;
    const tooMany =
      line.length >= this.limits.pipelinedRequests ||
      (!isFirst && this.waiting >= this.limits.waitingRequests);
    const isLast = this.draining || connection.served >= this.limits.requestsPerConnection;
    if (tooMany || isLast) this.close(request);
    if (this.draining) this.expectBody(connection, request);
    const entry = tooMany ? 'too-many' : 'welcome';
    line.push({
      request,
      begin: () => {
        response.once('close', () => {
          this.leave(connection, request);
        });
        begin(entry);
      },
    });
    if (isFirst) line[0]?.begin();
    else this.waiting += 1;
  }

  /** The reply to `request` is the last on its connection; requests after it are not read. */
  close(request: IncomingMessage): void {
    const connection = this.known.get(request.socket);
    if (connection === undefined) return;
    connection.ending = true;
    connection.closing = request;
  }

  /** Called when the reply to `request` begins. While draining that is the last one, unless others wait after it. */
  closesAfter(request: IncomingMessage): boolean {
    const connection = this.known.get(request.socket);
    if (this.draining && connection?.latest === request && !connection.ending) this.close(request);
    return connection?.closing === request;
  }

  /** Calls `failed` when the parser gives up on the body of `request`, or at once if it already has. */
  onBodyFault(request: IncomingMessage, failed: ((fault: BodyFault) => void) | undefined): void {
    const connection = this.known.get(request.socket);
    if (connection?.latest !== request) return;
    connection.bodyFailed = failed;
    if (connection.bodyFault !== undefined) failed?.(connection.bodyFault);
  }

  /**
   * The parser has given up on `socket`. Within a body, the body's reader reports that in the reply; without a reader there is no
   * further reply. Otherwise it was a new request: `refuse` runs after the queued ones are answered.
   */
  parserFailed(socket: Duplex, fault: BodyFault, refuse: () => void): void {
    const connection = this.known.get(socket);
    if (connection?.latest?.complete === false) {
      this.bodyFailed(connection, connection.latest, fault);
    } else if (connection === undefined) {
      refuse();
    } else if (!connection.ending) {
      connection.ending = true;
      if (connection.line.length === 0) refuse();
      else connection.whenIdle = refuse;
    }
  }

  private bodyFailed(connection: Connection, latest: IncomingMessage, fault: BodyFault): void {
    if (connection.closing === undefined) this.close(latest);
    connection.bodyFault = fault;
    connection.bodyFailed?.(fault);
    if (connection.line.length === 0) connection.socket.destroy();
  }

  private expectBody(connection: Connection, request: IncomingMessage): void {
    this.clock.after(this.limits.lastBodyTimeout, () => {
      const isMissing = connection.latest === request && !request.complete;
      if (isMissing && connection.line.length > 0) this.bodyFailed(connection, request, 'timeout');
    });
  }

  private partSoon(connection: Connection): void {
    this.clock.after(this.limits.partingTimeout, () => {
      const { line, ending, isHandedOver, socket } = connection;
      if (line.length === 0 && !ending && !isHandedOver) socket.destroy();
    });
  }

  /** The first reply has reached the kernel, or its connection is gone. */
  private leave(connection: Connection, request: IncomingMessage): void {
    const { line } = connection;
    if (request.socket.destroyed || connection.closing === request) this.forget(connection);
    line.shift();
    const next = line[0];
    if (next === undefined) {
      connection.whenIdle?.();
      if (this.draining) this.partSoon(connection);
      return;
    }
    this.waiting -= 1;
    next.begin();
  }

  /** The waiting requests can no longer be answered. */
  private forget({ line }: Connection): void {
    if (line.length < 2) return;
    this.waiting -= line.length - 1;
    line.length = 1;
  }

  private add(socket: Duplex): Connection {
    const connection: Connection = {
      socket,
      line: [],
      served: 0,
      latest: undefined,
      isHandedOver: false,
      ending: false,
      closing: undefined,
      bodyFailed: undefined,
      bodyFault: undefined,
      whenIdle: undefined,
    };
    this.known.set(socket, connection);
    socket.once('close', () => {
      this.forget(connection);
      this.known.delete(socket);
    });
    return connection;
  }
}
