import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { ServerLimits } from './server-limits.js';

export type BodyFault = 'malformed' | 'timeout' | 'gone';

/** `too-many`: it is to be refused, and ends the connection. */
export type ConnectionVerdict = 'welcome' | 'too-many';

interface Waiting {
  readonly request: IncomingMessage;
  readonly begin: () => void;
}

/** What is known of one connection; forgotten with its socket. */
interface Connection {
  readonly socket: Duplex;
  /** In the order they came; the first is in work, and the others are begun when it is their turn. */
  readonly line: Waiting[];
  served: number;
  /** Undefined until it has asked for anything. */
  latest: IncomingMessage | undefined;
  /** It has changed to another protocol, and to another owner. */
  isHandedOver: boolean;
  /** Nothing after the latest request is read as a request any more. */
  ending: boolean;
  /** The request whose answer closes the connection. */
  closing: IncomingMessage | undefined;
  /** The reader that waits for the body of the latest request. */
  bodyFailed: ((fault: BodyFault) => void) | undefined;
  /** What became of that body before a reader waited for it. */
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
 * The requests of each connection wait in line: one is begun when the kernel has taken the answer before it, so nothing is computed
 * for a client that does not read. The line is bounded, and a parse error is matched to the request that it concerns.
 */
export class Connections {
  private readonly known = new Map<Duplex, Connection>();
  /** On all connections, after the first of each. */
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

  /** The connection is no longer one of requests. It is counted until it ends, for the listener waits for it. */
  handOver(socket: Duplex): void {
    const connection = this.known.get(socket);
    if (connection !== undefined) connection.isHandedOver = true;
  }

  /**
   * From now on every answer is the last on its connection. Idle connections are closed after a moment, in which a request that was
   * on its way is still answered. Bodies have to come soon. `onCut` gets the number of connections that were cut off at the end.
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

  /** Resolves when idle connections have had their moment; at once when there are none. */
  parting(): Promise<void> {
    return this.known.size === 0 ? Promise.resolve() : this.moment;
  }

  /** `begin` is called when it is the request's turn: at once, later, or never when its connection ends before. */
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

  /** The answer to `request` is the last on its connection; requests after it are not read. */
  close(request: IncomingMessage): void {
    const connection = this.known.get(request.socket);
    if (connection === undefined) return;
    connection.ending = true;
    connection.closing = request;
  }

  /** Asked when the answer to `request` begins: while draining that is the last one, unless others wait in line after it. */
  closesAfter(request: IncomingMessage): boolean {
    const connection = this.known.get(request.socket);
    if (this.draining && connection?.latest === request && !connection.ending) this.close(request);
    return connection?.closing === request;
  }

  /** `failed` is called when the parser gives up on the body of `request`, or at once if it already has. */
  onBodyFault(request: IncomingMessage, failed: ((fault: BodyFault) => void) | undefined): void {
    const connection = this.known.get(request.socket);
    if (connection?.latest !== request) return;
    connection.bodyFailed = failed;
    if (connection.bodyFault !== undefined) failed?.(connection.bodyFault);
  }

  /**
   * The parser has given up on `socket`. Within a body, the reader of that body says so in the answer; without a reader the
   * answer is all there will be. Else it was a new request: `refuse` runs after those in line are answered.
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

  /** The answer to the first in line is with the kernel, or its connection is no more. */
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

  /** The requests that wait cannot be answered any more. */
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
