import type { Entity } from '#libs/shard/task.js';
import type { ObservedFill } from '../protocol/cell-protocol.js';
import { emptyUser, type UserState } from '../rules/user.js';
import type { VenueId } from '../rules/venues.js';

/** Something that is known from one position of the journal on. */
export interface Known {
  readonly id: string;
  readonly at: number;
}

/** One user in the memory of a cell. What is beside the state is never forgotten. */
export interface UserEntry extends Entity<UserState> {
  readonly user_id: string;
  /** Orders by what their caller has called them. */
  readonly keys: Map<string, Known>;
  /** Orders by the names that the venue has for them. */
  readonly names: Map<string, Known>;
  /** Where each fill was booked, by its id. */
  readonly fills: Map<string, number>;
  /** Where each order's events stand in the journal. */
  readonly positions: Map<string, number[]>;
  /** Movements of money and transfers that are booked, by the reference that they came with. */
  readonly booked: Map<string, Known>;
  /** Where the first money of an account was booked: what is unexplained before that it has brought along. */
  readonly opened: Map<VenueId, number>;
  /** The last event about holdings at each venue. */
  readonly touched: Map<VenueId, number>;
  /** Fills of orders that are not known yet; some order of the user is just being sent. */
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
