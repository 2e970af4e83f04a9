import type { JournalReader, JournalWriter } from '#libs/journal/journal.js';
import type { SealedSnapshots } from '#libs/journal/sealed-snapshots.js';
import type { JournalNotice } from '#libs/link/journal-notices.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { Tracing } from '#libs/platform/tracing/tracing.js';
import type { RandomBytes } from './order-ids.js';
import type { SwitchSource } from './switchboard.js';
import type { VaultHolds } from './transfer-desk.js';

/** What a cell needs from outside its own memory. Its process provides it. */
export interface CellPorts {
  readonly cell: number;
  /** Whether the user belongs to this cell. */
  readonly isOurs: (user_id: string) => boolean;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly writer: JournalWriter;
  readonly reader: JournalReader;
  readonly snapshots: SealedSnapshots;
  readonly switches: SwitchSource;
  readonly vault: VaultHolds;
  readonly meter: CellMeter;
  /** Tells readers how far the journal may be read. */
  readonly announce: (notice: JournalNotice) => void;
  readonly settings: CellSettings;
  /** This process lost the journal to another writer, or the result of an append is unknown. It must stop. */
  readonly onJournalFailure: (error: unknown) => void;
  readonly onFault: (part: string, error: unknown) => void;
  readonly tracing?: Tracing;
}

export interface CellSettings {
  readonly limitsFactor: number;
  /** The number of events between two snapshots. */
  readonly snapshotEvery: number;
  readonly stalledAfterMillis: number;
}

export interface CellMeter {
  command(op: string, status: number, code: string): void;
  appended(records: number, seconds: number): void;
}
