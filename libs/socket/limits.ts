/** Everything that bounds what one connection may hold, ask for, or keep waiting. */
export interface StreamLimits {
  readonly helloMillis: number;
  readonly heartbeatMillis: number;
  /** Heartbeats without a word from the client. */
  readonly silentHeartbeats: number;
  /** What may wait for a reader. */
  readonly bufferedMessages: number;
  readonly bufferedBytes: number;
  /** A second overflow within this time ends the connection. */
  readonly overflowMillis: number;
  readonly subscriptions: number;
  /** A second, and at once; whoever may not subscribe has nothing to unsubscribe. */
  readonly subscribesPerSecond: number;
  /** Commands whose answer is not there yet; at so many nothing more is read. */
  readonly commandsInFlight: number;
  readonly maxGraceMillis: number;
  readonly snapshotPart: number;
  /** Entries of before that are read at once for a subscription with `after_seq`. */
  readonly timelinePage: number;
  /** Events between two tokens, and the time between them. */
  readonly tokenEvents: number;
  readonly tokenMillis: number;
  /** How long before the end of its session a client is told. */
  readonly expiryNoticeMillis: number;
  /** How long a resumed connection waits until this gateway has come as far as the one before, and the like. */
  readonly catchUpMillis: number;
  /** What is recalled at once for one connection of what the feed has forgotten. */
  readonly chapterEvents: number;
  readonly chapterBytes: number;
  /** Connections for which that is done at the same time. */
  readonly recallsAtOnce: number;
}

export const STREAM_LIMITS: StreamLimits = {
  helloMillis: 10_000,
  heartbeatMillis: 10_000,
  silentHeartbeats: 3,
  bufferedMessages: 4_096,
  bufferedBytes: 8 * 1024 * 1024,
  overflowMillis: 10_000,
  subscriptions: 64,
  subscribesPerSecond: 50,
  commandsInFlight: 256,
  maxGraceMillis: 30_000,
  snapshotPart: 200,
  timelinePage: 200,
  tokenEvents: 100,
  tokenMillis: 1_000,
  expiryNoticeMillis: 60_000,
  catchUpMillis: 5_000,
  chapterEvents: 5_000,
  chapterBytes: 4 * 1024 * 1024,
  recallsAtOnce: 3,
};
