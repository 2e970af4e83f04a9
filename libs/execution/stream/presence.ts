/** A connection that wants its orders cancelled when it is lost. */
export interface WatchedConnection {
  readonly connectionId: string;
  readonly account: string;
  readonly graceMillis: number;
}

/** Tells the cell of a user what becomes of such connections. */
export interface Presence {
  /** A socket goes on with the connection, or lets go of it: its `hello` decides. */
  resumed(connection: Omit<WatchedConnection, 'graceMillis'>, graceMillis: number | undefined): void;
  ended(connection: WatchedConnection, how: 'BYE' | 'LOST'): void;
}
