/** If several sockets resume a connection, the one with the highest attachment is the latest. */
export interface AttachedConnection {
  readonly connectionId: string;
  readonly attachment: number;
}

export interface BegunConnection extends AttachedConnection {
  readonly account: string;
  /** How long after a loss its orders are cancelled. Undefined if they stay. The latest `hello` decides. */
  readonly graceMillis: number | undefined;
  readonly isResumed: boolean;
  /** The cell took this gateway for dead and cancelled the orders, so the client must be disconnected. */
  readonly onLapsed: () => void;
}

/** Reports to a user's cell when connections with cancel on disconnect begin and end. */
export interface ConnectionPresence {
  /** A socket owns the connection. `ended` must follow. */
  begun(connection: BegunConnection): void;
  /** Reports nothing if a later socket here has resumed the connection. */
  ended(connection: AttachedConnection, how: 'BYE' | 'LOST'): void;
}
