import { checkNext } from '../chain-check.js';
import { beforeFirst, hashOfBytes, headAt } from '../hash-chain.js';
import type { JournalEntry, JournalHead } from '../journal.js';
import type { JournalFamily } from '../journal-id.js';
import { JournalCorrupt } from '../journal-errors.js';
import { decodeRecord, type Anchor, type LogRecord } from './record-format.js';
import type { LogMessage } from './topic-log.js';

/** How far a journal has been followed in its topic. */
export interface LogPosition {
  /** Offset of the next message to look at. */
  readonly next: number;
  /** The last record of the journal before that. */
  readonly head: JournalHead;
  /** The offset of `head`; undefined before the first record. */
  readonly offset: number | undefined;
  readonly anchor: Anchor | undefined;
  /** The MAC of `head`, if it has one: a writer checks it before it appends. */
  readonly seal?: Buffer | undefined;
}

/** A record with its offset in the topic. */
export interface LocatedHead extends JournalHead {
  readonly offset: number;
}

/** Before the first message of a topic. */
export function startOf(family: JournalFamily): LogPosition {
  return { next: 0, head: beforeFirst(family), offset: undefined, anchor: undefined };
}

/** The position after a message that is known to hold a record of the journal. */
export function positionAfter(offset: number, record: LogRecord): LogPosition {
  const { epoch, sequence, hash, anchor, seal } = record;
  return { next: offset + 1, head: { epoch, sequence, hash }, offset, anchor, seal };
}

/**
 * Decides for each message of a topic whether it belongs to the journal. The order in the topic decides, so all readers agree.
 * Messages that others wrote do not count: those of older epochs after a newer one began, take-overs that came too late, and
 * repeats by the same writer. Anything else that does not fit is damage.
 */
export class LogCursor {
  private rivalEpoch = 0;
  private copy: LogRecord | undefined;
  private lateOnes = 0;
  private doubledOnes = 0;

  constructor(
    private readonly shard: number,
    private at: LogPosition,
  ) {}

  get position(): LogPosition {
    return this.at;
  }

  /** The highest epoch of a take-over that came too late here; 0 if there was none. */
  get rival(): number {
    return this.rivalEpoch;
  }

  /** The number of messages from ended epochs, or of take-overs that came too late. */
  get late(): number {
    return this.lateOnes;
  }

  /** The number of messages that their own writer had sent already. */
  get doubled(): number {
    return this.doubledOnes;
  }

  /** The sequence of a message that claims to repeat an earlier record: pass it together with that record. */
  get claimed(): number | undefined {
    return this.copy?.sequence;
  }

  /**
   * Returns the message as an entry of the journal. Undefined if it does not count, or if it claims to repeat a record that has
   * to be compared first (`claimed`). Messages come in the order of their offsets.
   */
  take(message: LogMessage): JournalEntry | undefined {
    const { offset } = message;
    const { head, next } = this.at;
    if (offset !== next) throw this.damaged(`offset ${next} of its topic is gone`);
    const record = decodeRecord(message.value, message.seal);
    if (record === undefined) throw this.damaged(`offset ${offset} of its topic holds no record`);
    if (this.isOver(record)) {
      this.ignore(record);
      return undefined;
    }
    if (this.claimsToRepeat(record)) {
      this.copy = record;
      return undefined;
    }
    const entry = checkNext(this.shard, head, record);
    this.at = { next: offset + 1, head: headAt(entry), offset, anchor: record.anchor, seal: entry.seal };
    return entry;
  }

  /** Skips a message whose sequence was seen before, if `original` is that record. */
  pass(original: JournalEntry | undefined): void {
    const record = this.copy;
    if (record === undefined) throw new RangeError('there is no repeated message to skip');
    this.copy = undefined;
    const { kind, hash, sequence, epoch } = record;
    if (kind === 'epoch' && original?.hash !== hash) this.ignore(record);
    else if (original !== undefined && this.isSame(record, original)) {
      this.doubledOnes += 1;
      this.step();
    } else {
      const { next } = this.at;
      throw this.damaged(`offset ${next} of its topic holds another record ${sequence} of epoch ${epoch}`);
    }
  }

  /** Whether the message belongs to an ended epoch, or came too late to begin one. */
  private isOver({ kind, epoch, sequence }: LogRecord): boolean {
    const { head } = this.at;
    if (kind === 'epoch') return epoch < head.epoch || (epoch > head.epoch && sequence <= head.sequence);
    return kind === 'event' && epoch < head.epoch;
  }

  /**
   * An epoch has one writer, which uses each sequence for one record only. An epoch record may also come from another opener that was
   * too late for the same epoch.
   */
  private claimsToRepeat({ kind, epoch, sequence }: LogRecord): boolean {
    const { head } = this.at;
    return (kind === 'epoch' || kind === 'event') && epoch === head.epoch && sequence <= head.sequence;
  }

  /** Compares all fields: the claimed hash may belong to other content. */
  private isSame({ epoch, sequence, kind, payload, hash }: LogRecord, original: JournalEntry): boolean {
    if (kind !== original.kind || hash !== original.hash) return false;
    const { previousHash } = original;
    return (
      hashOfBytes({ shard: this.shard, epoch, sequence, kind: original.kind, previousHash }, payload) === hash
    );
  }

  private ignore({ kind, epoch }: LogRecord): void {
    if (kind === 'epoch') this.rivalEpoch = Math.max(this.rivalEpoch, epoch);
    this.lateOnes += 1;
    this.step();
  }

  private step(): void {
    this.at = { ...this.at, next: this.at.next + 1 };
  }

  /** Damage at the next sequence, where a reader will meet it. */
  private damaged(reason: string): JournalCorrupt {
    return new JournalCorrupt(this.shard, this.at.head.sequence + 1, reason);
  }
}
