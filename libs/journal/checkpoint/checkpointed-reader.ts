import { JournalUnreadable } from '../journal-errors.js';
import type { JournalEntry, JournalReader } from '../journal.js';

/** Whether the database has a checkpoint of the shard. Rejects if the topic disagrees with it. */
export type ShardCheck = (shard: number) => Promise<boolean>;

/**
 * For processes that serve what they read. Shows nothing of a shard until its topic agrees with the checkpoint, and nothing of a
 * shard without one. From then on the reader keeps to the chain that it has read.
 */
export class CheckpointedReader implements JournalReader {
  private readonly known = new Map<number, Promise<boolean>>();

  constructor(
    private readonly reader: JournalReader,
    private readonly shards: readonly number[],
    private readonly check: ShardCheck,
  ) {}

  async read(shard: number, fromSequence: number, limit: number): Promise<JournalEntry[]> {
    return (await this.hasBegun(shard)) ? await this.reader.read(shard, fromSequence, limit) : [];
  }

  async entries(shard: number, sequences: readonly number[]): Promise<JournalEntry[]> {
    if (await this.hasBegun(shard)) return await this.reader.entries(shard, sequences);
    throw new JournalUnreadable(`the database has no checkpoint of the journal of shard ${shard} yet`);
  }

  async heads(shards = this.shards): Promise<Map<number, number>> {
    const begun = await Promise.all(shards.map((shard) => this.hasBegun(shard)));
    const heads = await this.reader.heads(shards);
    return new Map([...heads].filter(([shard]) => begun[shards.indexOf(shard)] !== false));
  }

  /** Checked once; concurrent callers share the check. A failed check is repeated. */
  private async hasBegun(shard: number): Promise<boolean> {
    const asked = this.known.get(shard) ?? this.check(shard);
    this.known.set(shard, asked);
    let begun = false;
    try {
      begun = await asked;
      return begun;
    } finally {
      if (!begun && this.known.get(shard) === asked) this.known.delete(shard);
    }
  }
}
