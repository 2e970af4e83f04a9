import type { SessionHolder } from '#libs/socket/session-guard.js';
import type { VenueId } from '../rules/venues.js';

/** The caller at the other end of a socket, checked again several times a second. */
export interface StreamCaller extends SessionHolder {
  /** The client's address. */
  readonly address: string;
  /** Absent for a session. */
  readonly client_id?: string;
  /** The key's own limit, if it has one. */
  readonly orders_per_minute?: number;
  /** The scopes for streams that the caller has. */
  readonly scopes: ReadonlySet<StreamScope>;
}
/** A session token sent over a socket, with the address of that socket. A bad token counts against the address. */
export function tokenOver({ address }: Pick<StreamCaller, 'address'>, token: string): string {
  return `${address} ${token}`;
}

export type StreamScope = 'trade:read' | 'trade:execute';

export const COMMANDS = ['order.submit', 'order.cancel', 'order.cancel_all', 'order.amend'] as const;
export type CommandName = (typeof COMMANDS)[number];

export interface SocketCommand {
  readonly name: CommandName;
  /** All fields except `op` and `req_id`, each as JSON text, so that numbers stay exact. */
  readonly members: ReadonlyMap<string, string>;
  readonly caller: StreamCaller;
  /** Set if the connection wants its orders cancelled when it is lost. */
  readonly connectionId?: string;
}

/** The same answer as over HTTP. */
export interface SocketAnswer {
  readonly status: number;
  /** JSON text. Empty if the status says everything. */
  readonly body: string;
  readonly isReplay?: boolean;
  readonly isMismatch?: boolean;
}

/** Runs a command like the HTTP call of the same name: the same checks, limits and keys. */
export interface CommandTaker {
  run(call: SocketCommand): Promise<SocketAnswer>;
}

/** Whether keys may use a venue. Null if that is unknown. Sessions always may. */
export interface VenueAccess {
  enabled(caller: StreamCaller, venue: VenueId): boolean | null;
}
