import type { JournalEntry } from '#libs/journal/journal.js';
import { fromWire } from '../protocol/wire.js';
import type { CellEvent } from '../rules/events.js';
import type { PlacedEvent } from './told.js';
import { isRecord } from './records.js';

/** Undefined for a record that holds no event. Throws for one that this version does not understand. */
export function readCellEvent({ kind, payload, sequence }: JournalEntry): PlacedEvent | undefined {
  if (kind !== 'event') return undefined;
  const event = fromWire(payload);
  if (!isCellEvent(event)) throw new Error(`record ${sequence} of a cell holds no event that is known here`);
  return { position: sequence, event };
}

/** The cell has written it, and the journal vouches for that: only what tells one kind from another is looked at. */
function isCellEvent(event: unknown): event is CellEvent {
  return isRecord(event) && typeof event.type === 'string' && typeof event.user_id === 'string';
}
