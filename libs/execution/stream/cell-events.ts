import type { JournalEntry } from '#libs/journal/journal.js';
import { decodeCellEvent } from '../protocol/event-codec.js';
import type { JournaledEvent } from './told.js';

/** Undefined for a record that holds no event. Throws for one that this version does not understand. */
export function readCellEvent({ kind, payload, sequence }: JournalEntry): JournaledEvent | undefined {
  return kind === 'event' ? { position: sequence, event: decodeCellEvent(payload) } : undefined;
}
