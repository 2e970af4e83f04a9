import type { JournalEntry } from '../journal.js';
import { JournalCorrupt } from '../journal-errors.js';
import type { LogPosition } from './log-cursor.js';
import { PositionFinder } from './position-finder.js';
import type { ShardTopic } from './shard-run.js';

/** Whole batches are sent twice, so the records after this one are needed next. */
const PAGE = 2_048;

/** Reads the original records of messages that claim to be repeats. Reads nothing before the first such message. */
export class DuplicateResolver {
  private readonly finder: PositionFinder;
  private earlier: readonly JournalEntry[] = [];

  constructor(
    shard: number,
    private readonly topic: ShardTopic,
    private readonly from: LogPosition,
    /** The entries that were read after `from`. */
    private readonly entries: readonly JournalEntry[],
  ) {
    this.finder = new PositionFinder(shard, topic);
  }

  /** Undefined if there is none. */
  async of(sequence: number): Promise<JournalEntry | undefined> {
    const { head } = this.from;
    if (sequence > head.sequence) return this.entries[sequence - head.sequence - 1];
    return this.known(sequence) ?? (await this.read(sequence));
  }

  private known(sequence: number): JournalEntry | undefined {
    const [first] = this.earlier;
    return first === undefined ? undefined : this.earlier[sequence - first.sequence];
  }

  private async read(sequence: number): Promise<JournalEntry | undefined> {
    if (sequence < 1) return undefined;
    const { head, next: end } = this.from;
    try {
      const from = await this.finder.behind(sequence - 1, this.from);
      const limit = Math.min(PAGE, head.sequence - sequence + 1);
      this.earlier = (await this.topic.run({ from, end, limit })).entries;
    } catch (error) {
      if (error instanceof JournalCorrupt) return undefined;
      throw error;
    }
    return this.known(sequence);
  }
}
