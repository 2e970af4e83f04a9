import type { JournalEntry } from '#libs/journal/journal.js';
import { decodeCellEvent } from '../protocol/event-codec.js';
import type { CellEvent, OrderEvent } from '../rules/events.js';

/** A cell's event with its position in the journal. */
export interface JournaledCellEvent<Event extends CellEvent = CellEvent> {
  readonly position: number;
  readonly payload: string;
  readonly event: Event;
}

/** Leaves out epoch records, which say nothing about users. */
export function decodeCellEvents(entries: readonly JournalEntry[]): JournaledCellEvent[] {
  return entries.flatMap(({ kind, sequence, payload }) =>
    kind === 'epoch' ? [] : [{ position: sequence, payload, event: decodeCellEvent(payload) }],
  );
}

export function isOfOrder(event: CellEvent): event is OrderEvent {
  return 'order_id' in event;
}

/** Whether the event creates an order, so that no earlier state is needed. */
export function makesOrder({ type }: CellEvent): boolean {
  return type === 'ORDER_ACCEPTED' || type === 'EXTERNAL_ORDER_FOUND';
}
