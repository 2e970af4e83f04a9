import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

export type BodyFault = 'malformed' | 'timeout' | 'gone';

/** `too-many`: it is to be refused, and ends the connection. */
export type Entry = 'welcome' | 'too-many';

interface Waiting {
  readonly request: IncomingMessage;
  readonly begin: () => void;
}

/** What is known of one connection; forgotten with its socket. */
interface Connection {
  /** In the order they came; the first is in work, and the others are begun when it is their turn. */
  readonly line: Waiting[];
  served: number;
  latest: IncomingMessage;
  /** Nothing that comes behind the latest request is read as a request any more. */
  ending: boolean;
  /** The request whose answer closes the connection. */
  closing: IncomingMessage | undefined;
  /** Whoever waits for the body of the latest request. */
  bodyFailed: ((fault: BodyFault) => void) | undefined;
  /** What became of that body before anybody waited for it. */
  bodyFault: BodyFault | undefined;
  whenIdle: (() => void) | undefined;
}

export interface LineLimits {
  readonly pipelinedRequests: number;
  readonly waitingRequests: number;
  readonly requestsPerConnection: number;
}

/**
 * The requests of each connection stand in line: one is begun when the answer before it has been taken by the kernel, so nothing
 * is computed for who does not read. The line is bounded, and a parse error finds out whom it hits.
 */
export class Connections {
  private readonly known = new WeakMap<Duplex, Connection>();
  /** On all connections, behind the first of each. */
  private waiting = 0;
  private draining = false;

  constructor(private readonly limits: LineLimits) {}

  /** From now on every answer is the last on its connection: who keeps asking is to ask elsewhere, and not to hold up the end. */
  drain(): void {
    this.draining = true;
  }

  /** `begin` is called when it is the request's turn: at once, later, or never when its connection ends before. */
  enter(request: IncomingMessage, response: ServerResponse, begin: (entry: Entry) => void): void {
    const connection = this.known.get(request.socket) ?? this.add(request);
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

  /** The answer to `request` is the last on its connection; requests behind it are not looked at. */
  close(request: IncomingMessage): void {
    const connection = this.known.get(request.socket);
    if (connection === undefined) return;
    connection.ending = true;
    connection.closing = request;
  }

  closesAfter(request: IncomingMessage): boolean {
    return this.known.get(request.socket)?.closing === request;
  }

  /** Whom to tell when the parser gives up on the body of `request`, or already has. */
  onBodyFault(request: IncomingMessage, failed: ((fault: BodyFault) => void) | undefined): void {
    const connection = this.known.get(request.socket);
    if (connection?.latest !== request) return;
    connection.bodyFailed = failed;
    if (connection.bodyFault !== undefined) failed?.(connection.bodyFault);
  }

  /**
   * The parser has given up on `socket`. When it was within a body, whoever reads that body says so in the answer; when nobody
   * does, the answer is all there will be. Else it was a new request: `refuse` runs after those in line are answered.
   */
  parserFailed(socket: Duplex, fault: BodyFault, refuse: () => void): void {
    const connection = this.known.get(socket);
    if (connection === undefined) {
      refuse();
    } else if (!connection.latest.complete) {
      if (connection.closing === undefined) this.close(connection.latest);
      connection.bodyFault = fault;
      connection.bodyFailed?.(fault);
      if (connection.line.length === 0) socket.destroy();
    } else if (!connection.ending) {
      connection.ending = true;
      if (connection.line.length === 0) refuse();
      else connection.whenIdle = refuse;
    }
  }

  /** The answer to the first in line is with the kernel, or its connection is no more. */
  private leave(connection: Connection, request: IncomingMessage): void {
    const { line } = connection;
    if (request.socket.destroyed || connection.closing === request) this.forget(connection);
    line.shift();
    const next = line[0];
    if (next === undefined) {
      connection.whenIdle?.();
      return;
    }
    this.waiting -= 1;
    next.begin();
  }

  /** Nobody can answer those who wait any more. */
  private forget({ line }: Connection): void {
    if (line.length < 2) return;
    this.waiting -= line.length - 1;
    line.length = 1;
  }

  private add(request: IncomingMessage): Connection {
    const connection: Connection = {
      line: [],
      served: 0,
      latest: request,
      ending: false,
      closing: undefined,
      bodyFailed: undefined,
      bodyFault: undefined,
      whenIdle: undefined,
    };
    this.known.set(request.socket, connection);
    request.socket.once('close', () => {
      this.forget(connection);
    });
    return connection;
  }
}
