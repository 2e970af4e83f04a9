import { checkNext } from '../chain-check.js';
import { BEFORE_FIRST, headAt, recordHash } from '../hash-chain.js';
import type { JournalEntry, JournalHead } from '../journal.js';
import { decodeRecord, type Anchor, type LogRecord } from './record-format.js';
import type { LogMessage } from './topic-log.js';

/** How far a journal has been followed in its topic. */
export interface LogPlace {
  /** Offset of the next message to look at. */
  readonly next: number;
  /** The last record of the journal before that. */
  readonly head: JournalHead;
  /** Where `head` stands; undefined before the first record. */
  readonly offset: number | undefined;
  readonly anchor: Anchor | undefined;
}

export const START: LogPlace = { next: 0, head: BEFORE_FIRST, offset: undefined, anchor: undefined };

/** Behind a message that is known to hold a record of the journal. */
export function placeBehind(offset: number, { epoch, sequence, hash, anchor }: LogRecord): LogPlace {
  return { next: offset + 1, head: { epoch, sequence, hash }, offset, anchor };
}

/**
 * Says of each message in a topic whether it belongs to the journal. Anybody may write to a topic, and an owner that was
 * deposed may do so without knowing; so an epoch begins with an epoch record that continues the chain where it stands, and
 * whatever older epochs write behind it does not count, nor does a take-over that came too late. Everything else that does
 * not fit is damage.
 */
export class LogCursor {
  constructor(
    private readonly shard: number,
    private at: LogPlace = START,
  ) {}

  get place(): LogPlace {
    return this.at;
  }

  /** The message as an entry of the journal, or undefined where it is none. Messages come in the order of their offsets. */
  take({ offset, value }: LogMessage): JournalEntry | undefined {
    const record = decodeRecord(this.shard, offset, value);
    if (this.isLate(record)) {
      this.at = { ...this.at, next: offset + 1 };
      return undefined;
    }
    const entry = checkNext(this.shard, this.at.head, record);
    this.at = { next: offset + 1, head: headAt(entry), offset, anchor: record.anchor };
    return entry;
  }

  /** Written by somebody who had lost the shard already: in an older epoch, or to take it over where it had been before. */
  private isLate(record: LogRecord): boolean {
    const { head } = this.at;
    if (record.kind === 'epoch') return record.sequence <= head.sequence;
    return record.kind === 'event' && record.epoch < head.epoch && !this.continues(record);
  }

  private continues({ epoch, sequence, payload, hash }: LogRecord): boolean {
    const { head } = this.at;
    if (sequence !== head.sequence + 1) return false;
    const entry = {
      shard: this.shard,
      epoch,
      sequence,
      kind: 'event',
      payload,
      previousHash: head.hash,
    } as const;
    return recordHash(entry) === hash;
  }
}
