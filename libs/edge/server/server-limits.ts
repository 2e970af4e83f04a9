import type { ServerOptions } from 'node:http';

/** Bounds on what a peer can make the listener store or wait for. Times are in milliseconds. */
export interface ServerLimits {
  /** Bytes of request line and headers together. More gives 431. */
  readonly headerBytes: number;
  /** Number of headers. More gives 431. */
  readonly headerCount: number;
  /** From the first byte of a request to the end of its headers. Longer gives 408. */
  readonly headersTimeout: number;
  /** From the first byte of a request to the end of its body. Longer gives 408. */
  readonly requestTimeout: number;
  /** How often the two timeouts above are checked, and so their inaccuracy. */
  readonly timeoutCheckInterval: number;
  /** A connection without a request is closed after this. */
  readonly keepAliveTimeout: number;
  /** A connection without data in either direction is cut after this. */
  readonly idleTimeout: number;
  /** Time for a client to read one reply, or one piece of a stream. */
  readonly sendTimeout: number;
  /** After a refusal the rest of the request is read up to these limits, so that a reset does not lose the reply. */
  readonly lingerTimeout: number;
  readonly lingerBytes: number;
  /** Requests queued on one connection, with the running one. The next gets 503 and the connection closes. */
  readonly pipelinedRequests: number;
  /** Waiting requests over all connections. The next gets 503. */
  readonly waitingRequests: number;
  /** After this many requests a connection is closed gracefully, so that load spreads to new gateways. */
  readonly requestsPerConnection: number;
  /** Connections in total. More are closed without a reply, which would cost too much. */
  readonly connections: number;
  /** Connections of one network address. */
  readonly connectionsPerAddress: number;
  /** Running reads of one account; a page counts as four. Further ones wait their turn. */
  readonly readsPerAccount: number;
  /** A read that runs longer probably waits for another system, so it stops counting. */
  readonly readPatience: number;
  /** Bytes of unread replies in total. Past it the connections that stalled first are cut off. */
  readonly unreadBytes: number;
  /** While stopping: how long idle connections stay open, so that a request in transit is answered and not reset. */
  readonly partingTimeout: number;
  /** While stopping: the time for a request to arrive completely; then 408. */
  readonly lastBodyTimeout: number;
  /** While stopping: connections still open after this are cut off, well before the process has to stop. */
  readonly lastAnswerTimeout: number;
}

export const SERVER_LIMITS: ServerLimits = {
  headerBytes: 16_384,
  headerCount: 100,
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  timeoutCheckInterval: 1_000,
  keepAliveTimeout: 65_000,
  idleTimeout: 75_000,
  sendTimeout: 30_000,
  lingerTimeout: 1_000,
  lingerBytes: 4_194_304,
  pipelinedRequests: 32,
  waitingRequests: 4_096,
  requestsPerConnection: 1_000_000,
  connections: 10_000,
  connectionsPerAddress: 4_096,
  readsPerAccount: 16,
  readPatience: 250,
  unreadBytes: 67_108_864,
  partingTimeout: 500,
  lastBodyTimeout: 2_000,
  lastAnswerTimeout: 5_500,
};

/** The limits that Node enforces. `Connections`, the body reader and the sender enforce the others. */
export function serverOptions(limits: ServerLimits): ServerOptions {
  return {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersTimeout,
    requestTimeout: limits.requestTimeout,
    connectionsCheckingInterval: limits.timeoutCheckInterval,
    keepAliveTimeout: limits.keepAliveTimeout,
    insecureHTTPParser: false,
    noDelay: true,
    // The dispatcher refuses a missing Host itself, in the envelope of all errors.
    requireHostHeader: false,
  };
}
