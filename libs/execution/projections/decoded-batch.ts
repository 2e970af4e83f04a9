import type { JournalEntry } from '#libs/journal/journal.js';
import { decodeCellEvent } from '../protocol/event-codec.js';
import type { CellEvent, OrderEvent } from '../rules/events.js';

/** An event of a cell as its journal has it. */
export interface JournaledCellEvent<Event extends CellEvent = CellEvent> {
  readonly position: number;
  readonly payload: string;
  readonly event: Event;
}

/** Epoch records say nothing about users and are left out. */
export function decodeCellEvents(entries: readonly JournalEntry[]): JournaledCellEvent[] {
  return entries.flatMap(({ kind, sequence, payload }) =>
    kind === 'epoch' ? [] : [{ position: sequence, payload, event: decodeCellEvent(payload) }],
  );
}

export function isOfOrder(event: CellEvent): event is OrderEvent {
  return 'order_id' in event;
}

/** Whether it makes an order, so that nothing has to be known before. */
export function makesOrder({ type }: CellEvent): boolean {
  return type === 'ORDER_ACCEPTED' || type === 'EXTERNAL_ORDER_FOUND';
}
