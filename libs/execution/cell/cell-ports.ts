import type { JournalReader, JournalWriter } from '#libs/journal/journal.js';
import type { SealedSnapshots } from '#libs/journal/sealed-snapshots.js';
import type { JournalNotice } from '#libs/link/journal-notices.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { Tracing } from '#libs/platform/tracing/tracing.js';
import type { RandomBytes } from './order-ids.js';
import type { SwitchSource } from './switchboard.js';
import type { VaultHolds } from './transfer-desk.js';

/** Everything outside a cell's own memory, as its process has set it up. */
export interface CellPorts {
  readonly cell: number;
  /** Whether a user is one of this cell's. */
  readonly isOurs: (user_id: string) => boolean;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly writer: JournalWriter;
  readonly reader: JournalReader;
  readonly snapshots: SealedSnapshots;
  readonly switches: SwitchSource;
  readonly vault: VaultHolds;
  readonly meter: CellMeter;
  /** The journal has come so far, and may be read up to there. */
  readonly announce: (notice: JournalNotice) => void;
  readonly settings: CellSettings;
  /** The journal no longer takes this process for the cell's, or nobody knows what it has written: stop. */
  readonly onJournalFailure: (error: unknown) => void;
  readonly onFault: (part: string, error: unknown) => void;
  readonly tracing?: Tracing;
}

export interface CellSettings {
  readonly limitsFactor: number;
  /** Events between one snapshot and the next. */
  readonly snapshotEvery: number;
  readonly stalledAfterMillis: number;
}

export interface CellMeter {
  command(op: string, status: number, code: string): void;
  appended(records: number, seconds: number): void;
}
