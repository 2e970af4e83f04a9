import { checkNext } from '../chain-check.js';
import { BEFORE_FIRST, hashOfBytes, headAt } from '../hash-chain.js';
import type { JournalEntry, JournalHead } from '../journal.js';
import { JournalCorrupt } from '../journal-errors.js';
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
  /** Of `head`, if it has one: a writer looks at it before it goes on behind. */
  readonly seal?: Buffer | undefined;
}

/** A record and the place in its topic where it stands. */
export interface PlacedHead extends JournalHead {
  readonly offset: number;
}

export const START: LogPlace = { next: 0, head: BEFORE_FIRST, offset: undefined, anchor: undefined };

/** Behind a message that is known to hold a record of the journal. */
export function placeBehind(offset: number, record: LogRecord): LogPlace {
  const { epoch, sequence, hash, anchor, seal } = record;
  return { next: offset + 1, head: { epoch, sequence, hash }, offset, anchor, seal };
}

/**
 * Says of each message in a topic whether it belongs to the journal; the order in the topic decides, and every reader decides
 * alike. Anybody may write to a topic, and an owner that was deposed may do so without knowing. So an epoch begins with an
 * epoch record that continues the chain where it stands, and these do not count: whatever older epochs write behind it, a
 * take-over that came too late, and what a writer has sent twice. Everything else that does not fit is damage.
 */
export class LogCursor {
  private rivalEpoch = 0;

  constructor(
    private readonly shard: number,
    private at: LogPlace = START,
  ) {}

  get place(): LogPlace {
    return this.at;
  }

  /** The highest epoch that somebody has tried to begin here and come too late for; 0 if nobody has. */
  get rival(): number {
    return this.rivalEpoch;
  }

  /** The message as an entry of the journal, or undefined where it is none. Messages come in the order of their offsets. */
  take(message: LogMessage): JournalEntry | undefined {
    const { offset } = message;
    const { head, next } = this.at;
    if (offset !== next) {
      throw new JournalCorrupt(this.shard, head.sequence + 1, `offset ${next} of its topic is gone`);
    }
    const record = decodeRecord(message.value, message.seal);
    if (record === undefined) {
      throw new JournalCorrupt(
        this.shard,
        head.sequence + 1,
        `offset ${offset} of its topic holds no record`,
      );
    }
    if (this.doesNotCount(record)) {
      if (record.kind === 'epoch') this.rivalEpoch = Math.max(this.rivalEpoch, record.epoch);
      this.at = { ...this.at, next: offset + 1 };
      return undefined;
    }
    const entry = checkNext(this.shard, head, record);
    this.at = { next: offset + 1, head: headAt(entry), offset, anchor: record.anchor, seal: entry.seal };
    return entry;
  }

  private doesNotCount(record: LogRecord): boolean {
    const { head } = this.at;
    if (record.kind === 'epoch') return record.sequence <= head.sequence;
    if (record.kind !== 'event' || record.epoch > head.epoch) return false;
    // Within an epoch there is one writer, and it gives a sequence to one record only: this one has been here before.
    if (record.epoch === head.epoch) return record.sequence <= head.sequence;
    return !this.continues(record);
  }

  /** An event of an older epoch that follows the head all the same: nobody who plays by the rules can have written it. */
  private continues({ epoch, sequence, payload, hash }: LogRecord): boolean {
    const { head } = this.at;
    if (sequence !== head.sequence + 1) return false;
    const fields = { shard: this.shard, epoch, sequence, kind: 'event', previousHash: head.hash } as const;
    return hashOfBytes(fields, payload) === hash;
  }
}
