import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { ServerLimits } from './server-limits.js';

export type BodyFault = 'malformed' | 'timeout' | 'gone';

/** `too-many`: the caller must refuse the request and close the connection. */
export type ConnectionVerdict = 'welcome' | 'too-many';

interface QueuedRequest {
  readonly request: IncomingMessage;
  readonly begin: () => void;
}

/** The state of one connection, until its socket closes. */
interface Connection {
  readonly socket: Duplex;
  /** In order of arrival. The first one runs, and the others wait for their turn. */
  readonly queue: QueuedRequest[];
  served: number;
  /** Undefined until the first request. */
  latest: IncomingMessage | undefined;
  /** The connection has switched to another protocol and is no longer managed here. */
  isUpgraded: boolean;
  /** Nothing after the latest request is treated as a request. */
  ending: boolean;
  /** The request whose reply closes the connection. */
  closing: IncomingMessage | undefined;
  /** The callback of the reader that waits for the body of the latest request. */
  bodyFailed: ((fault: BodyFault) => void) | undefined;
  /** The failure of that body, if it came before a reader was waiting. */
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
 * Queues the requests of each connection. A request starts when the kernel has accepted the previous reply, so nothing is computed
 * for a client that does not read. Bounds the queues, and matches each parse error to its request.
 */
export class Connections {
  private readonly connections = new Map<Duplex, Connection>();
  /** Waiting requests on all connections; the running ones do not count. */
  private waiting = 0;
  private draining = false;
  private isDrained = false;
  private idleGrace: Promise<void> = Promise.resolve();

  constructor(
    private readonly limits: LineLimits,
    private readonly clock: Clock,
  ) {}

  /** Called when a peer has connected. It may never send a request. */
  opened(socket: Duplex): void {
    if (this.isDrained) {
      socket.destroy();
      return;
    }
    const connection = this.add(socket);
    if (this.draining) this.closeWhenIdle(connection);
  }

  /** Called when a connection switches to another protocol. The listener still waits for its end before it stops. */
  handOver(socket: Duplex): void {
    const connection = this.connections.get(socket);
    if (connection !== undefined) connection.isUpgraded = true;
  }

  /**
   * From now on every reply closes its connection. Idle connections close after a grace period, so that a request in transit is
   * still answered. Bodies get a short time limit. `onCut` gets the number of connections that were cut off at the end.
   */
  drain(onCut: (connections: number) => void): void {
    if (this.draining) return;
    this.draining = true;
    this.idleGrace = pause(this.clock, this.limits.partingTimeout);
    for (const connection of this.connections.values()) {
      this.closeWhenIdle(connection);
      if (connection.latest !== undefined) this.limitBodyTime(connection, connection.latest);
    }
    this.clock.after(this.limits.lastAnswerTimeout, () => {
      this.isDrained = true;
      if (this.connections.size > 0) onCut(this.connections.size);
      for (const socket of this.connections.keys()) socket.destroy();
    });
  }

  /** Resolves when the grace period of idle connections is over, or at once without connections. */
  parting(): Promise<void> {
    return this.connections.size === 0 ? Promise.resolve() : this.idleGrace;
  }

  /** Calls `begin` when it is the request's turn: at once, later, or never if its connection ends first. */
  enter(
    request: IncomingMessage,
    response: ServerResponse,
    begin: (verdict: ConnectionVerdict) => void,
  ): void {
    const connection = this.connections.get(request.socket) ?? this.add(request.socket);
    if (connection.ending) return;
    const { queue } = connection;
    connection.latest = request;
    connection.bodyFailed = undefined;
    connection.served += 1;
    const isFirst = queue.length === 0;
    const tooMany =
      queue.length >= this.limits.pipelinedRequests ||
      (!isFirst && this.waiting >= this.limits.waitingRequests);
    const isLast = this.draining || connection.served >= this.limits.requestsPerConnection;
    if (tooMany || isLast) this.close(request);
    if (this.draining) this.limitBodyTime(connection, request);
    const entry = tooMany ? 'too-many' : 'welcome';
    queue.push({
      request,
      begin: () => {
        response.once('close', () => {
          this.replySent(connection, request);
        });
        begin(entry);
      },
    });
    if (isFirst) queue[0]?.begin();
    else this.waiting += 1;
  }

  /** Makes the reply to `request` the last on its connection. Later requests are not read. */
  close(request: IncomingMessage): void {
    const connection = this.connections.get(request.socket);
    if (connection === undefined) return;
    connection.ending = true;
    connection.closing = request;
  }

  /** Called when the reply to `request` begins. While draining, the reply to the latest request closes the connection. */
  closesAfter(request: IncomingMessage): boolean {
    const connection = this.connections.get(request.socket);
    if (this.draining && connection?.latest === request && !connection.ending) this.close(request);
    return connection?.closing === request;
  }

  /** Calls `failed` when the parser fails on the body of `request`, or at once if it already has. */
  onBodyFault(request: IncomingMessage, failed: ((fault: BodyFault) => void) | undefined): void {
    const connection = this.connections.get(request.socket);
    if (connection?.latest !== request) return;
    connection.bodyFailed = failed;
    if (connection.bodyFault !== undefined) failed?.(connection.bodyFault);
  }

  /**
   * Called when the parser fails on `socket`. Within a body, the body's reader puts that into the reply; without a reader no further
   * reply is sent. Otherwise a new request was malformed, and `refuse` runs after the queued requests are answered.
   */
  parserFailed(socket: Duplex, fault: BodyFault, refuse: () => void): void {
    const connection = this.connections.get(socket);
    if (connection?.latest?.complete === false) {
      this.bodyFailed(connection, connection.latest, fault);
    } else if (connection === undefined) {
      refuse();
    } else if (!connection.ending) {
      connection.ending = true;
      if (connection.queue.length === 0) refuse();
      else connection.whenIdle = refuse;
    }
  }

  private bodyFailed(connection: Connection, latest: IncomingMessage, fault: BodyFault): void {
    if (connection.closing === undefined) this.close(latest);
    connection.bodyFault = fault;
    connection.bodyFailed?.(fault);
    if (connection.queue.length === 0) connection.socket.destroy();
  }

  private limitBodyTime(connection: Connection, request: IncomingMessage): void {
    this.clock.after(this.limits.lastBodyTimeout, () => {
      const isMissing = connection.latest === request && !request.complete;
      if (isMissing && connection.queue.length > 0) this.bodyFailed(connection, request, 'timeout');
    });
  }

  private closeWhenIdle(connection: Connection): void {
    this.clock.after(this.limits.partingTimeout, () => {
      const { queue, ending, isUpgraded, socket } = connection;
      if (queue.length === 0 && !ending && !isUpgraded) socket.destroy();
    });
  }

  /** Called when the kernel has accepted the first reply, or its connection is closed. */
  private replySent(connection: Connection, request: IncomingMessage): void {
    const { queue } = connection;
    if (request.socket.destroyed || connection.closing === request) this.dropWaiting(connection);
    queue.shift();
    const next = queue[0];
    if (next === undefined) {
      connection.whenIdle?.();
      if (this.draining) this.closeWhenIdle(connection);
      return;
    }
    this.waiting -= 1;
    next.begin();
  }

  /** Drops the waiting requests, which can no longer be answered. */
  private dropWaiting({ queue }: Connection): void {
    if (queue.length < 2) return;
    this.waiting -= queue.length - 1;
    queue.length = 1;
  }

  private add(socket: Duplex): Connection {
    const connection: Connection = {
      socket,
      queue: [],
      served: 0,
      latest: undefined,
      isUpgraded: false,
      ending: false,
      closing: undefined,
      bodyFailed: undefined,
      bodyFault: undefined,
      whenIdle: undefined,
    };
    this.connections.set(socket, connection);
    socket.once('close', () => {
      this.dropWaiting(connection);
      this.connections.delete(socket);
    });
    return connection;
  }
}
