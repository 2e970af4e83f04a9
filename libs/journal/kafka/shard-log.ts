import type { JournalEntry } from '../journal.js';
import { JournalCorrupt } from '../journal-errors.js';
import { LogCursor, placeBehind, START, type LogPlace } from './log-cursor.js';
import { decodeRecord, type LogRecord } from './record-format.js';
import type { TopicLog } from './topic-log.js';

export interface Run {
  readonly entries: readonly JournalEntry[];
  /** Behind the last of them, where the next run begins. */
  readonly place: LogPlace;
}

const RUN_BYTES = 4 * 1024 * 1024;
const PEEK_BYTES = 64 * 1024;
/** Messages that are looked at, backwards from the end, for one that proves its own place. */
const LOOK_BACK = 16;

interface Found {
  readonly offset: number;
  readonly record: LogRecord;
}

function isAtHome({ offset, record: { kind, sequence, anchor } }: Found): boolean {
  return kind === 'event' && anchor !== undefined && offset - anchor.offset === sequence - anchor.sequence;
}

/** Finds places of a journal in its topic, and reads on from them. It remembers nothing. */
export class ShardLog {
  constructor(
    private readonly shard: number,
    private readonly log: TopicLog,
  ) {}

  end(): Promise<number> {
    return this.log.end();
  }

  /** Valid entries from a place on, `limit` at most; fewer only where the topic ends, at `end` or behind it. */
  async run(from: LogPlace, limit: number, end?: number): Promise<Run> {
    const entries: JournalEntry[] = [];
    const cursor = new LogCursor(this.shard, from);
    while (entries.length < limit && (end === undefined || cursor.place.next < end)) {
      const messages = await this.log.fetch(cursor.place.next, RUN_BYTES);
      if (messages.length === 0) break;
      for (const message of messages) {
        if (end !== undefined && message.offset >= end) break;
        const entry = cursor.take(message);
        if (entry !== undefined) entries.push(entry);
        if (entries.length === limit) break;
      }
    }
    return { entries, place: cursor.place };
  }

  /** Behind the last valid record. */
  async tail(): Promise<LogPlace> {
    const end = await this.log.end();
    const from = await this.provenNear(end);
    return (await this.run(from, Number.MAX_SAFE_INTEGER, end)).place;
  }

  /** Behind the record of this sequence, looked for backwards from a later place; undefined when the journal does not go so far. */
  async behind(sequence: number, later?: LogPlace): Promise<LogPlace | undefined> {
    if (sequence === 0) return START;
    let place = later ?? (await this.tailOrNothing());
    // Where the end is damaged what stands before the damage can still be read.
    if (place === undefined) return this.scan(START, sequence);
    if (sequence > place.head.sequence) return undefined;
    for (;;) {
      const { head, anchor } = place;
      if (head.sequence === sequence) return place;
      // The first record of all.
      if (anchor === undefined) return this.scan(START, sequence);
      const base = await this.at(anchor.offset);
      if (base?.record.sequence !== anchor.sequence) return this.scan(START, sequence);
      const before = placeBehind(base.offset, base.record);
      if (sequence >= anchor.sequence) return await this.between(before, sequence);
      place = before;
    }
  }

  /** Behind an anchor places can be counted, unless somebody else has written there before its writer knew. */
  private async between(anchor: LogPlace, sequence: number): Promise<LogPlace> {
    const guess = (anchor.offset ?? 0) + sequence - anchor.head.sequence;
    const found = await this.at(guess);
    const isRight = found?.record.sequence === sequence && found.record.epoch === anchor.head.epoch;
    return isRight ? placeBehind(guess, found.record) : await this.scan(anchor, sequence);
  }

  private async scan(from: LogPlace, sequence: number): Promise<LogPlace> {
    try {
      const { place } = await this.run(from, sequence - from.head.sequence);
      if (place.head.sequence === sequence) return place;
    } catch (error) {
      if (!(error instanceof JournalCorrupt)) throw error;
      throw new JournalCorrupt(this.shard, sequence, `the record cannot be reached: ${error.message}`);
    }
    throw new JournalCorrupt(this.shard, sequence, 'the record is missing');
  }

  private async tailOrNothing(): Promise<LogPlace | undefined> {
    try {
      return await this.tail();
    } catch (error) {
      if (error instanceof JournalCorrupt) return undefined;
      throw error;
    }
  }

  /** A place at or before the end that needs no proof but itself: an event as far from its anchor as its number says. */
  private async provenNear(end: number): Promise<LogPlace> {
    for (let offset = end - 1; offset > 0 && offset >= end - LOOK_BACK; offset -= 1) {
      const [before, last] = [await this.at(offset - 1), await this.at(offset)];
      if (before === undefined || last === undefined || !isAtHome(last)) continue;
      if (before.record.sequence !== last.record.sequence - 1 || before.record.epoch !== last.record.epoch)
        continue;
      return placeBehind(before.offset, before.record);
    }
    return START;
  }

  private async at(offset: number): Promise<Found | undefined> {
    const [message] = await this.log.fetch(offset, PEEK_BYTES);
    if (message?.offset !== offset) return undefined;
    return { offset, record: decodeRecord(this.shard, offset, message.value) };
  }
}
