import type { SessionHolder } from '#libs/socket/session-guard.js';
import type { VenueId } from '../rules/venues.js';

/** Who is at the other end of a socket. Asked again several times a second, so it says what holds now. */
export interface StreamCaller extends SessionHolder {
  /** Where the socket comes from. */
  readonly address: string;
  /** Absent for a session. */
  readonly client_id?: string;
  /** The limit of the key, where it has its own. */
  readonly orders_per_minute?: number;
  /** The scopes that streams ask for and the caller has. */
  readonly scopes: ReadonlySet<StreamScope>;
}
/** A session token that came over a socket, with where that comes from: a bad one counts against its address. */
export function tokenOver({ address }: Pick<StreamCaller, 'address'>, token: string): string {
  return `${address} ${token}`;
}

export type StreamScope = 'trade:read' | 'trade:execute';

export const COMMANDS = ['order.submit', 'order.cancel', 'order.cancel_all', 'order.amend'] as const;
export type CommandName = (typeof COMMANDS)[number];

export interface SocketCommand {
  readonly name: CommandName;
  /** All members but `op` and `req_id`, each as the JSON text that came, so that numbers stay exact. */
  readonly members: ReadonlyMap<string, string>;
  readonly caller: StreamCaller;
  /** Only of a connection that wants its orders cancelled when it is lost. */
  readonly connectionId?: string;
}

/** As over HTTP. */
export interface SocketAnswer {
  readonly status: number;
  /** JSON text; empty where the status says it all. */
  readonly body: string;
  readonly isReplay?: boolean;
  readonly isMismatch?: boolean;
}

/** Takes the same way as the call of the same name over HTTP: the same checks, limits and keys. */
export interface CommandTaker {
  run(call: SocketCommand): Promise<SocketAnswer>;
}

/** Whether keys may use a venue: null where that cannot be known. Sessions always may. */
export interface VenueAccess {
  enabled(caller: StreamCaller, venue: VenueId): boolean | null;
}
