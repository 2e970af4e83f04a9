/** What bounds one connection, whatever is said over it. */
export interface ConnectionLimits {
  readonly helloMillis: number;
  readonly heartbeatMillis: number;
  /** Heartbeats without a word from the client. */
  readonly silentHeartbeats: number;
  /** What may wait for a reader. */
  readonly bufferedMessages: number;
  readonly bufferedBytes: number;
  /** A second overflow within this time ends the connection. */
  readonly overflowMillis: number;
  /** Requests without an answer. At so many nothing more is read. */
  readonly requestsInFlight: number;
  /** How long before the end of its session a client is warned. */
  readonly expiryNoticeMillis: number;
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  helloMillis: 10_000,
  heartbeatMillis: 10_000,
  silentHeartbeats: 3,
  bufferedMessages: 4_096,
  bufferedBytes: 8 * 1024 * 1024,
  overflowMillis: 10_000,
  requestsInFlight: 256,
  expiryNoticeMillis: 60_000,
};
