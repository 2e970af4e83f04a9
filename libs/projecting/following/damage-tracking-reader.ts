import { JournalCorrupt } from '#libs/journal/journal-errors.js';
import type { JournalEntry, JournalReader } from '#libs/journal/journal.js';

/** Knows whether the journals can be followed: the last call for their heads succeeded, and no shard is known to be damaged. */
export class DamageTrackingReader implements JournalReader {
  private isAway = false;
  private readonly damaged = new Set<number>();

  constructor(private readonly reader: JournalReader) {}

  get isSound(): boolean {
    return !this.isAway && this.damaged.size === 0;
  }

  get damagedShards(): ReadonlySet<number> {
    return this.damaged;
  }

  markDamaged(shard: number): void {
    this.damaged.add(shard);
  }

  handleError(error: unknown): void {
    if (error instanceof JournalCorrupt) this.damaged.add(error.shard);
  }

  /** Called when a sound record of the shard was read after its offset. */
  clear(shard: number): void {
    this.damaged.delete(shard);
  }

  clearAll(): void {
    this.damaged.clear();
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
