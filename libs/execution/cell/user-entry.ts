import type { Entity } from '#libs/shard/task.js';
import type { ObservedFill } from '../protocol/cell-protocol.js';
import { emptyUser, type UserState } from '../rules/user.js';
import type { VenueId } from '../rules/venues.js';

/** An id, and the journal position at which it was noted. */
export interface Known {
  readonly id: string;
  readonly at: number;
}

/** One user in the memory of a cell. These indexes are never dropped, unlike ended orders in the state. */
export interface UserEntry extends Entity<UserState> {
  readonly user_id: string;
  /** Order ids by the caller's key. */
  readonly keys: Map<string, Known>;
  /** Order ids by their ids at the venue. */
  readonly names: Map<string, Known>;
  /** The journal position of each fill, by fill id. */
  readonly fills: Map<string, number>;
  /** The journal positions of each order's events. */
  readonly positions: Map<string, number[]>;
  /** Booked movements and transfers, by their reference. */
  readonly booked: Map<string, Known>;
  /** The position of an account's first booked money. Unexplained balances before that count as its opening balance. */
  readonly opened: Map<VenueId, number>;
  /** The position of the last event about holdings at each venue. */
  readonly touched: Map<VenueId, number>;
  /** Fills of unknown orders, kept while some order of the user is just being sent. */
  parked: readonly ObservedFill[];
}

export function callerKey(venue: VenueId, market_id: string, client_order_id: string): string {
  return `${venue}/${market_id}/${client_order_id}`;
}

export function venueName(venue: VenueId, id: string): string {
  return `${venue}/${id}`;
}

export function emptyEntry(user_id: string): UserEntry {
  return {
    user_id,
    head: emptyUser,
    durable: undefined,
    keys: new Map(),
    names: new Map(),
    fills: new Map(),
    positions: new Map(),
    booked: new Map(),
    opened: new Map(),
    touched: new Map(),
    parked: [],
  };
}
