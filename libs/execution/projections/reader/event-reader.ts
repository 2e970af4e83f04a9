import type { Pool } from 'pg';
import { decodeCellEvent } from '../../protocol/event-codec.js';
import type { CellEvent } from '../../rules/events.js';
import { orderTimeline } from '../../rules/timeline.js';
import { isOfOrder } from '../decoded-batch.js';
import { executionOffsets } from '../projection.js';

interface EventRow {
  readonly position: number;
  readonly payload: string;
}

/** An event with its position in the cell's journal. */
interface ReadEvent {
  readonly position: number;
  readonly event: CellEvent;
}

export const EVENTS_OF_ORDER = `
  select position, payload from execution.events where order_id = $1 and user_id = $2 order by seq`;
export const EVENTS_UP_TO = `
  select position, payload from execution.events where order_id = $1 and cell = $2 and position <= $3 order by seq`;
export const EVENTS_OF_USER = `
  select position, payload from execution.events
  where user_id = $1 and cell = $2 and position > $3 and position <= $4 order by position limit $5`;

/** The projected events of cells: timelines of orders, and events that a reconnecting client has missed. */
export class EventReader {
  constructor(private readonly pool: Pool) {}

  /** Undefined if the user has no such order, or it is not projected yet. */
  async timeline(
    user: string,
    orderId: string,
    afterSeq: number,
    limit: number,
  ): Promise<Record<string, unknown> | undefined> {
    const { rows } = await this.pool.query<EventRow>({
      name: 'execution-timeline',
      text: EVENTS_OF_ORDER,
      values: [orderId, user],
    });
    const events = rows.map(({ payload }) => decodeCellEvent(payload)).filter(isOfOrder);
    return orderTimeline(events, afterSeq, limit);
  }

  /** The user's events after `position`. They are complete up to `upTo`. */
  async after(
    user: string,
    cell: number,
    position: number,
    limit: number,
  ): Promise<{ readonly events: readonly ReadEvent[]; readonly upTo: number }> {
    const projected = await executionOffsets.position(this.pool, cell);
    if (projected <= position) return { events: [], upTo: position };
    const { rows } = await this.pool.query<EventRow>({
      name: 'execution-events-of-user',
      text: EVENTS_OF_USER,
      values: [user, cell, position, projected, limit],
    });
    const events = rows.map(readEvent);
    const upTo = events.length < limit ? projected : (events.at(-1)?.position ?? projected);
    return { events, upTo };
  }

  /** All events of an order up to `position`. Undefined while the projection has not reached it. */
  async ofOrder(orderId: string, cell: number, position: number): Promise<readonly ReadEvent[] | undefined> {
    if ((await executionOffsets.position(this.pool, cell)) < position) return undefined;
    const { rows } = await this.pool.query<EventRow>({
      name: 'execution-events-of-order',
      text: EVENTS_UP_TO,
      values: [orderId, cell, position],
    });
    return rows.length === 0 ? undefined : rows.map(readEvent);
  }
}

function readEvent({ position, payload }: EventRow): ReadEvent {
  return { position, event: decodeCellEvent(payload) };
}
