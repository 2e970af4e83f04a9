import type { JournalEntry, JournalReader } from '../journal.js';

/** Rejects where a shard's topic is not the one that the database knows. */
export type ShardCheck = (shard: number) => Promise<void>;

/**
 * For whoever serves what it reads: nobody is shown anything of a shard before its topic was found to be the right one. From there on a
 * reader holds on to the chain that it has read.
 */
export class WitnessedReader implements JournalReader {
  private readonly passed = new Map<number, Promise<void>>();

  constructor(
    private readonly reader: JournalReader,
    private readonly shards: readonly number[],
    private readonly check: ShardCheck,
  ) {}

  async read(shard: number, fromSequence: number, limit: number): Promise<JournalEntry[]> {
    await this.pass(shard);
    return await this.reader.read(shard, fromSequence, limit);
  }

  async entries(shard: number, sequences: readonly number[]): Promise<JournalEntry[]> {
    await this.pass(shard);
    return await this.reader.entries(shard, sequences);
  }

  async heads(): Promise<Map<number, number>> {
    await Promise.all(this.shards.map((shard) => this.pass(shard)));
    return await this.reader.heads();
  }

  /** Once it has passed it is not asked again; who asks meanwhile waits for the same answer. */
  private pass(shard: number): Promise<void> {
    const known = this.passed.get(shard);
    if (known !== undefined) return known;
    const asked = this.check(shard).catch((error: unknown) => {
      this.passed.delete(shard);
      throw error;
    });
    this.passed.set(shard, asked);
    return asked;
  }
}
