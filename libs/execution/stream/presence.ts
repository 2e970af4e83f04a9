/** Of several sockets that went on with a connection the one with the highest attachment is the latest. */
export interface AttachedConnection {
  readonly connectionId: string;
  readonly attachment: number;
}

export interface BegunConnection extends AttachedConnection {
  readonly account: string;
  /** After which its orders are cancelled when it is lost; undefined where they stand. The latest `hello` decides. */
  readonly graceMillis: number | undefined;
  readonly isResumed: boolean;
  /** The cell took this gateway for dead and has cancelled the orders: the client has to learn it, at any gateway. */
  readonly onLapsed: () => void;
}

/** Tells the cell of a user what becomes of connections whose orders are cancelled with them. */
export interface ConnectionPresence {
  /** A socket has the connection. `ended` has to follow. */
  begun(connection: BegunConnection): void;
  /** Says nothing where a later socket has gone on with it here. */
  ended(connection: AttachedConnection, how: 'BYE' | 'LOST'): void;
}
