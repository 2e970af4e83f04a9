import type { JournalEntry } from '../journal.js';
import type { JournalCorrupt } from '../journal-errors.js';
import type { LogPosition } from './log-cursor.js';
import type { LogRecord } from './record-format.js';
import type { LogMessage } from './topic-log.js';

export interface Run {
  readonly entries: readonly JournalEntry[];
  /** Behind the last of them, and behind what does not count after it, as far as that was looked at. */
  readonly place: LogPosition;
  /** What stands at the place instead of the next record. */
  readonly damage: JournalCorrupt | undefined;
  /** Messages from the place on that came along. */
  readonly ahead: readonly LogMessage[];
  /** The highest epoch that somebody has tried to begin in between, in vain; 0 if nobody has. */
  readonly rival: number;
  /** How many messages in between are of epochs that were over, or take-overs that came too late. */
  readonly late: number;
  /** How many are what their own writer has sent twice. */
  readonly doubled: number;
}

export interface RunBounds {
  readonly from: LogPosition;
  /** Offset behind the last message to look at; the topic is known to go so far. */
  readonly end: number;
  /** Of entries. */
  readonly limit?: number;
  /** Messages from `from` on that somebody has fetched already. */
  readonly ahead?: readonly LogMessage[];
}

export interface Found {
  readonly offset: number;
  readonly record: LogRecord;
}

/** A shard's topic, for whoever looks for a place in it. */
export interface Places {
  /** Before the first record. */
  readonly start: LogPosition;
  run(bounds: RunBounds): Promise<Run>;
  /** Undefined where no record can be had there. */
  at(offset: number): Promise<Found | undefined>;
  /** Behind the record before the last one between two offsets that proves its place. */
  lastProven(from: number, end: number): Promise<LogPosition | undefined>;
}
