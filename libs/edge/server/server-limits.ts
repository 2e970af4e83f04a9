import type { ServerOptions } from 'node:http';

/** Everything that bounds what one peer can make the listener store or wait for. Times are milliseconds. */
export interface ServerLimits {
  /** Request line and headers together, in bytes; more is 431. */
  readonly headerBytes: number;
  /** More headers than this are 431. */
  readonly headerCount: number;
  /** From the first byte of a request to the end of its headers; then 408. */
  readonly headersTimeout: number;
  /** From the first byte of a request to the end of its body; then 408. */
  readonly requestTimeout: number;
  /** The interval of checking the two above, and so their inaccuracy. */
  readonly timeoutCheckInterval: number;
  /** A connection without a request is closed after this. */
  readonly keepAliveTimeout: number;
  /** A connection on which nothing moves in either direction is cut. */
  readonly idleTimeout: number;
  /** The time for a reader to take one reply, or one piece of a stream. */
  readonly sendTimeout: number;
  /** After a refusal the rest of a request is read for this long and this far, so that a reset does not lose the reply. */
  readonly lingerTimeout: number;
  readonly lingerBytes: number;
  /** Queued requests on one connection, including the running one; the next is 503 and the connection closes. */
  readonly pipelinedRequests: number;
  /** Requests that wait after others, over all connections; past it they are 503 as well. */
  readonly waitingRequests: number;
  /** After this many requests the connection is closed in order, so that load spreads over new gateways. */
  readonly requestsPerConnection: number;
  /** More connections are closed without a reply, which would cost more than it is worth. */
  readonly connections: number;
  /** The same for those of one network address. */
  readonly connectionsPerAddress: number;
  /** Running reads of one account, a page counting as four; further ones wait their turn. */
  readonly readsPerAccount: number;
  /** A read that runs longer waits for another system, and no longer counts. */
  readonly readPatience: number;
  /** Bytes of unread replies in all; past it the connections that have not read for longest are cut off first. */
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

/** Node's own part of the limits. The others are held by `Connections`, the body reader and the sender. */
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
