import { JournalCorrupt } from '#libs/journal/journal-errors.js';
import type { JournalEntry, JournalReader } from '#libs/journal/journal.js';

/** Knows whether the journals can be followed: their ends could be told at the last look, and no shard was found to be damaged. */
export class WatchedReader implements JournalReader {
  private isAway = false;
  private readonly damaged = new Set<number>();

  constructor(private readonly reader: JournalReader) {}

  get isSound(): boolean {
    return !this.isAway && this.damaged.size === 0;
  }

  /** For who begins anew. */
  forgive(): void {
    this.damaged.clear();
  }

  /** Something sound of the shard stands behind what is projected. */
  absolve(shard: number): void {
    this.damaged.delete(shard);
  }

  get damagedShards(): ReadonlySet<number> {
    return this.damaged;
  }

  /** It cannot be followed, whatever else can. */
  condemn(shard: number): void {
    this.damaged.add(shard);
  }

  heed(error: unknown): void {
    if (error instanceof JournalCorrupt) this.damaged.add(error.shard);
  }

  read(shard: number, fromSequence: number, limit: number): Promise<JournalEntry[]> {
    return this.reader.read(shard, fromSequence, limit);
  }

  entries(shard: number, sequences: readonly number[]): Promise<JournalEntry[]> {
    return this.reader.entries(shard, sequences);
  }

  async heads(shards?: readonly number[]): Promise<Map<number, number>> {
    try {
      const heads = await this.reader.heads(shards);
      this.isAway = false;
      return heads;
    } catch (error) {
      this.isAway = true;
      throw error;
    }
  }
}
