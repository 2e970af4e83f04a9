import { CONNECTION_LIMITS, type ConnectionLimits } from '#libs/socket/slow-reader.js';

/** Limits of one `/ws` connection beyond the common ones. */
export interface SocketLimits extends ConnectionLimits {
  readonly subscriptions: number;
  readonly maxGraceMillis: number;
  readonly snapshotPart: number;
  /** Messages between two tokens, and the time between them. */
  readonly tokenEvents: number;
  readonly tokenMillis: number;
  /** How long a new or resumed subscription waits for what it needs. */
  readonly catchUpMillis: number;
  /** How many missed events are read at once. */
  readonly historyPage: number;
  /** How many recent changes of a user are kept for reconnecting clients. */
  readonly recentChanges: number;
  /** How many ended orders are kept, in case late events come. */
  readonly endedOrders: number;
  /** How long a user's state is kept after the last socket has gone. */
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
