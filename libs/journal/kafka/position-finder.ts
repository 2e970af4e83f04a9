import { JournalCorrupt } from '../journal-errors.js';
import { positionAfter, type LogPosition } from './log-cursor.js';
import type { ShardTopic } from './shard-run.js';

const MOST_LANDMARKS = 1_024;
/** How far a record may be from its expected offset, if others have written in between. */
const DISPLACED = 64;

/** Finds positions of a journal in its topic by following the records' anchors. */
export class PositionFinder {
  /** Anchors passed so far, in the order of their sequences. */
  private landmarks: LogPosition[] = [];

  constructor(
    private readonly shard: number,
    private readonly reading: ShardTopic,
  ) {}

  /** The position after the record of this sequence. The record is at or before `later`. */
  async behind(sequence: number, later: LogPosition): Promise<LogPosition> {
    if (sequence === 0) return this.reading.start;
    let position = this.landmarks.find(({ head }) => head.sequence >= sequence) ?? later;
    for (;;) {
      const { head, anchor, offset = 0 } = position;
      if (head.sequence === sequence) return position;
      // The very first record has no anchor.
      if (anchor === undefined || anchor.offset >= offset)
        return await this.scan(this.reading.start, sequence, later);
      const base = await this.reading.at(anchor.offset);
      if (base?.record.sequence !== anchor.sequence)
        return await this.scan(this.reading.start, sequence, later);
      const before = positionAfter(base.offset, base.record);
      this.remember(before);
      if (sequence >= anchor.sequence) return await this.between(before, sequence, later);
      position = before;
    }
  }

  /** From an anchor on, offsets can be counted, unless others have written there before its writer noticed. */
  private async between(anchor: LogPosition, sequence: number, later: LogPosition): Promise<LogPosition> {
    const base = anchor.offset ?? 0;
    const guess = base + sequence - anchor.head.sequence;
    const found = await this.reading.at(guess);
    const isOfEpoch = (epoch: number): boolean => epoch === anchor.head.epoch;
    if (found?.record.sequence === sequence && isOfEpoch(found.record.epoch)) {
      return positionAfter(guess, found.record);
    }
    const near = await this.reading.lastProven(Math.max(base, guess - DISPLACED), guess + 1);
    const isBefore = near !== undefined && near.head.sequence <= sequence && isOfEpoch(near.head.epoch);
    return await this.scan(isBefore ? near : anchor, sequence, later);
  }

  private async scan(from: LogPosition, sequence: number, later: LogPosition): Promise<LogPosition> {
    const limit = sequence - from.head.sequence;
    const { position, damage } = await this.reading.run({ from, end: later.next, limit });
    if (position.head.sequence === sequence) return position;
    const reason = damage === undefined ? 'is missing' : `cannot be reached: ${damage.message}`;
    throw new JournalCorrupt(this.shard, sequence, `the record ${reason}`);
  }

  private remember(position: LogPosition): void {
    const { sequence } = position.head;
    const at = this.landmarks.findIndex(({ head }) => head.sequence >= sequence);
    if (this.landmarks[at]?.head.sequence === sequence) return;
    this.landmarks.splice(at < 0 ? this.landmarks.length : at, 0, position);
    // Thinned out instead of cut off, so that positions remain over the whole topic.
    if (this.landmarks.length > MOST_LANDMARKS) this.landmarks = this.landmarks.filter((_, n) => n % 2 === 0);
  }
}
