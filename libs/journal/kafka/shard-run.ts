import type { JournalEntry } from '../journal.js';
import type { JournalCorrupt } from '../journal-errors.js';
import type { LogPosition } from './log-cursor.js';
import type { LogRecord } from './record-format.js';
import type { LogMessage } from './topic-log.js';

export interface Run {
  readonly entries: readonly JournalEntry[];
  /** The position after the last entry, and after ignored messages that follow it as far as was read. */
  readonly position: LogPosition;
  /** The damage at the position, in place of the next record. */
  readonly damage: JournalCorrupt | undefined;
  /** Messages after the position that are already fetched. */
  readonly ahead: readonly LogMessage[];
  /** The highest epoch of a take-over in between that came too late; 0 if there was none. */
  readonly rival: number;
  /** The number of messages in between from ended epochs, or of take-overs that came too late. */
  readonly late: number;
  /** The number of messages in between that their own writer sent twice. */
  readonly doubled: number;
}

export interface RunBounds {
  readonly from: LogPosition;
  /** Offset after the last message to read. The topic is known to reach it. */
  readonly end: number;
  /** The largest number of entries. */
  readonly limit?: number;
  /** Messages from `from` on that are already fetched. */
  readonly ahead?: readonly LogMessage[];
}

export interface Found {
  readonly offset: number;
  readonly record: LogRecord;
}

/** A shard's topic, for searching positions in it. */
export interface ShardTopic {
  /** Before the first record. */
  readonly start: LogPosition;
  run(bounds: RunBounds): Promise<Run>;
  /** Undefined if no record can be read there. */
  at(offset: number): Promise<Found | undefined>;
  /** The position before the last record between two offsets that proves its own position. */
  lastProven(from: number, end: number): Promise<LogPosition | undefined>;
}
