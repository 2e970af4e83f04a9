import type { BareReader, JournalEntry, UncheckedRecord } from '../journal.js';
import { JournalCorrupt, JournalUnreadable, messageOf } from '../journal-errors.js';
import type { JournalFamily } from '../journal-id.js';
import type { KnownRecord, KnownRecordState } from './shard-log.js';
import { ShardFollower } from './shard-follower.js';
import type { TopicLog } from './topic-log.js';

export interface KafkaReaderPorts {
  readonly family: JournalFamily;
  readonly openLog: (shard: number) => TopicLog;
  /** All shards that the family may have; those without a topic were never opened. */
  readonly shards: readonly number[];
}

/** Reads topics directly, without consumer groups: any number of readers at once, each from its own position. */
export class KafkaJournalReader implements BareReader {
  private readonly followers = new Map<number, ShardFollower>();

  constructor(private readonly ports: KafkaReaderPorts) {}

  /** Whether the shard's topic has a record at its known position. A reader that has not read yet begins after it. */
  begin(shard: number, known: KnownRecord): Promise<KnownRecordState> {
    return orUnreadable(shard, () => this.follower(shard).begin(known));
  }

  read(shard: number, fromSequence: number, limit: number): Promise<JournalEntry[]> {
    return orUnreadable(shard, () => this.follower(shard).read(fromSequence, limit));
  }

  entries(shard: number, sequences: readonly number[]): Promise<JournalEntry[]> {
    return orUnreadable(shard, () => this.follower(shard).entries(sequences));
  }

  /** After damage no record can be found by its sequence, so records from the damage on are returned. */
  unchecked(shard: number, _from: number, limit: number): Promise<UncheckedRecord[]> {
    return orUnreadable(shard, () => this.follower(shard).unchecked(limit));
  }

  async heads(named?: readonly number[]): Promise<Map<number, number>> {
    const shards = named ?? [...new Set([...this.ports.shards, ...this.followers.keys()])];
    const heads = await Promise.all(
      shards.map((shard) => orUnreadable(shard, () => this.follower(shard).head())),
    );
    const known = shards.map((shard, index) => [shard, heads[index] ?? 0] as const);
    return new Map(known.filter(([, head]) => head > 0));
  }

  async close(): Promise<void> {
    await Promise.all([...this.followers.values()].map((follower) => follower.close()));
  }

  private follower(shard: number): ShardFollower {
    const { family, openLog } = this.ports;
    const known = this.followers.get(shard) ?? new ShardFollower({ family, shard }, openLog(shard));
    this.followers.set(shard, known);
    return known;
  }
}

export async function orUnreadable<T>(shard: number, question: () => Promise<T>): Promise<T> {
  try {
    return await question();
  } catch (error) {
    if (error instanceof JournalCorrupt) throw error;
    throw new JournalUnreadable(`journal of shard ${shard} cannot be read: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
