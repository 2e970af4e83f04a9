import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

export type BodyFault = 'malformed' | 'timeout' | 'gone';

/** What is known of one connection; forgotten with its socket. */
interface Connection {
  inWork: number;
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

/** Keeps count of the requests on each connection: pipelined ones are bounded, and a parse error finds out whom it hits. */
export class Connections {
  private readonly known = new WeakMap<Duplex, Connection>();
  private draining = false;

  constructor(
    private readonly limits: { readonly pipelinedRequests: number; readonly requestsPerConnection: number },
  ) {}

  /** From now on every answer is the last on its connection: who keeps asking is to ask elsewhere, and not to hold up the end. */
  drain(): void {
    this.draining = true;
  }

  enter(request: IncomingMessage, response: ServerResponse): 'welcome' | 'too-many' | 'ignored' {
    const connection = this.known.get(request.socket) ?? this.add(request);
    if (connection.ending) return 'ignored';
    connection.latest = request;
    connection.bodyFailed = undefined;
    connection.inWork += 1;
    connection.served += 1;
    response.once('close', () => {
      connection.inWork -= 1;
      if (connection.inWork === 0) connection.whenIdle?.();
    });
    const tooMany = connection.inWork > this.limits.pipelinedRequests;
    const isLast = this.draining || connection.served >= this.limits.requestsPerConnection;
    if (tooMany || isLast) this.close(request);
    return tooMany ? 'too-many' : 'welcome';
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
   * does, the answer is all there will be. Else it was a new request: `refuse` runs after those in work are answered.
   */
  parserFailed(socket: Duplex, fault: BodyFault, refuse: () => void): void {
    const connection = this.known.get(socket);
    if (connection === undefined) {
      refuse();
    } else if (!connection.latest.complete) {
      this.close(connection.latest);
      connection.bodyFault = fault;
      connection.bodyFailed?.(fault);
      if (connection.inWork === 0) socket.destroy();
    } else if (!connection.ending) {
      connection.ending = true;
      if (connection.inWork === 0) refuse();
      else connection.whenIdle = refuse;
    }
  }

  private add(request: IncomingMessage): Connection {
    const connection: Connection = {
      inWork: 0,
      served: 0,
      latest: request,
      ending: false,
      closing: undefined,
      bodyFailed: undefined,
      bodyFault: undefined,
      whenIdle: undefined,
    };
    this.known.set(request.socket, connection);
    return connection;
  }
}
