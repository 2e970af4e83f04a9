import type { EntityChange, EntityMemory } from '#libs/shard/command-loop.js';
import type { CellEvent } from '../rules/events.js';
import { isInDoubt } from '../rules/exposure.js';
import { isHoldingEvent } from '../rules/holdings.js';
import { evolveUser, isOrderEvent } from '../rules/user.js';
import type { CellTypes } from './cell-task.js';
import { callerKey, emptyEntry, venueName, type Known, type UserEntry } from './user-entry.js';

export interface UserCounts {
  readonly liveOrders: number;
  readonly doubtful: number;
  readonly stalled: number;
  readonly differences: number;
}

/** All users of a cell. */
export class Users implements EntityMemory<CellTypes> {
  private readonly entries = new Map<string, UserEntry>();
  private readonly owners = new Map<string, UserEntry>();
  /** The position of the last event applied in memory, which may not be durable yet. */
  position = 0;

  all(): IterableIterator<UserEntry> {
    return this.entries.values();
  }

  get size(): number {
    return this.entries.size;
  }

  /** Walks over all users, so use it only for metrics. */
  counts(): UserCounts {
    let [liveOrders, doubtful, stalled, differences] = [0, 0, 0, 0];
    for (const { durable } of this.entries.values()) {
      liveOrders += durable?.live.size ?? 0;
      differences += durable?.holdings.differences.size ?? 0;
      for (const order of durable?.live.values() ?? []) {
        if (isInDoubt(order)) doubtful += 1;
        if (order.stalled_since !== undefined) stalled += 1;
      }
    }
    return { liveOrders, doubtful, stalled, differences };
  }

  find(user_id: string): UserEntry | undefined {
    return this.entries.get(user_id);
  }

  /** An unknown user gets an empty entry. */
  entryOf(user_id: string): UserEntry {
    const known = this.entries.get(user_id);
    if (known !== undefined) return known;
    const entry = emptyEntry(user_id);
    this.entries.set(user_id, entry);
    return entry;
  }

  ownerOf(order_id: string): UserEntry | undefined {
    return this.owners.get(order_id);
  }

  apply(position: number, event: CellEvent): EntityChange<CellTypes> {
    const entry = this.entryOf(event.user_id);
    entry.head = evolveUser(entry.head, event);
    this.position = position;
    this.note(entry, position, event);
    return { entity: entry, releases: [] };
  }

  /** Restores an entry from a snapshot. */
  restore(entry: UserEntry): void {
    this.entries.set(entry.user_id, entry);
    for (const order_id of entry.positions.keys()) this.owners.set(order_id, entry);
  }

  private note(entry: UserEntry, at: number, event: CellEvent): void {
    if (isOrderEvent(event)) {
      const { order_id: id } = event;
      const positions = entry.positions.get(id);
      if (positions === undefined) entry.positions.set(id, [at]);
      else positions.push(at);
      noteOrder(entry, { id, at }, event);
      this.owners.set(id, entry);
      return;
    }
    if (!isHoldingEvent(event)) return;
    entry.touched.set(event.venue, at);
    if (event.type === 'VENUE_LINKED') entry.opened.delete(event.venue);
    if (event.type === 'BALANCE_MOVED' && !entry.opened.has(event.venue)) entry.opened.set(event.venue, at);
    const reference = referenceOf(event);
    if (reference !== undefined) entry.booked.set(reference, { id: reference, at });
  }
}

function noteOrder(entry: UserEntry, known: Known, event: Extract<CellEvent, { order_id: string }>): void {
  const order = entry.head.live.get(known.id) ?? entry.head.ended.young.get(known.id);
  if (order === undefined) return;
  const { venue, market_id, client_order_id } = order.terms;
  const named = (id: string): unknown => entry.names.set(venueName(venue, id), known);
  switch (event.type) {
    case 'ORDER_ACCEPTED':
      if (client_order_id !== undefined) entry.keys.set(callerKey(venue, market_id, client_order_id), known);
      return;
    case 'SUBMISSION_STARTED':
      named(event.venue_client_id);
      return;
    case 'ORDER_FILLED':
      entry.touched.set(venue, known.at);
      if (!entry.fills.has(event.fill.fill_id)) entry.fills.set(event.fill.fill_id, known.at);
      if (!entry.names.has(venueName(venue, event.exchange_order_id))) named(event.exchange_order_id);
      return;
    case 'ORDER_PLACED':
    case 'EXTERNAL_ORDER_FOUND':
      named(event.exchange_order_id);
      return;
    default:
      return;
  }
}

function referenceOf(event: CellEvent): string | undefined {
  if (event.type === 'TRANSFER_HELD') return `transfer/${event.terms.client_request_id}`;
  if (event.type === 'BALANCE_MOVED') return event.entry_id;
  if (event.type === 'TRANSFER_SENT') return event.reference;
  return event.type === 'PAIRS_PAID' || event.type === 'POSITION_PAID' ? event.reference : undefined;
}
