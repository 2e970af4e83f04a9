export interface BegunConnection {
  readonly connectionId: string;
  readonly account: string;
  /** After which its orders are cancelled when it is lost; undefined where they stand. The latest `hello` decides. */
  readonly graceMillis: number | undefined;
  readonly isResumed: boolean;
}

/** Tells the cell of a user what becomes of connections whose orders are cancelled with them. */
export interface ConnectionPresence {
  /** A socket has the connection. `ended` has to follow. */
  begun(connection: BegunConnection): void;
  ended(connectionId: string, how: 'BYE' | 'LOST'): void;
}
