import type { JournalEntry } from '../journal.js';
import type { JournalCorrupt } from '../journal-errors.js';
import type { LogPosition } from './log-cursor.js';
import type { LogRecord } from './record-format.js';
import type { LogMessage } from './topic-log.js';

export interface Run {
  readonly entries: readonly JournalEntry[];
  /** After the last of them, and after messages that do not count, as far as they were read. */
  readonly position: LogPosition;
  /** What is at the position instead of the next record. */
  readonly damage: JournalCorrupt | undefined;
  /** Messages after the position that were fetched already. */
  readonly ahead: readonly LogMessage[];
  /** The highest epoch of a take-over in between that came too late; 0 if there was none. */
  readonly rival: number;
  /** How many messages in between are of epochs that were over, or take-overs that came too late. */
  readonly late: number;
  /** How many are what their own writer has sent twice. */
  readonly doubled: number;
}

export interface RunBounds {
  readonly from: LogPosition;
  /** Offset after the last message to read; the topic is known to go so far. */
  readonly end: number;
  /** Of entries. */
  readonly limit?: number;
  /** Messages from `from` on that were fetched already. */
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
  /** Undefined where no record can be had there. */
  at(offset: number): Promise<Found | undefined>;
  /** After the record before the last one between two offsets that proves its own position. */
  lastProven(from: number, end: number): Promise<LogPosition | undefined>;
}
