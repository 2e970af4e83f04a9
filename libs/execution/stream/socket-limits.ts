import { CONNECTION_LIMITS, type ConnectionLimits } from '#libs/socket/slow-reader.js';

/** What else one connection of `/ws` may hold, ask for, or keep waiting. */
export interface SocketLimits extends ConnectionLimits {
  readonly subscriptions: number;
  readonly maxGraceMillis: number;
  readonly snapshotPart: number;
  /** Messages between two tokens, and the time between them. */
  readonly tokenEvents: number;
  readonly tokenMillis: number;
  /** How long a beginning or a resumed subscription waits for what it needs. */
  readonly catchUpMillis: number;
  /** What is read at once of what a user missed. */
  readonly historyPage: number;
  /** The latest changes of a user that are kept for those who come back. */
  readonly recentChanges: number;
  /** Orders that have ended and are kept for what may still come of them. */
  readonly endedOrders: number;
  /** How long what is known of a user is kept after the last socket has gone. */
  readonly lingerMillis: number;
}

export const SOCKET_LIMITS: SocketLimits = {
  ...CONNECTION_LIMITS,
  subscriptions: 64,
  maxGraceMillis: 30_000,
  snapshotPart: 200,
  tokenEvents: 100,
  tokenMillis: 1_000,
  catchUpMillis: 5_000,
  historyPage: 500,
  recentChanges: 1_000,
  endedOrders: 1_000,
  lingerMillis: 30_000,
};
