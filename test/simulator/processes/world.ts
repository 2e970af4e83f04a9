import type { ShardSettings } from '#libs/auction/shard/shard-ports.js';
import type { MemorySnapshotStore } from '#libs/testing/journals/memory-snapshots.js';
import type { Random } from '../kernel/random.js';
import type { Scheduler } from '../kernel/scheduler.js';
import type { Trace } from '../kernel/trace.js';
import type { SimulatedDatabase } from '../storage/database.js';
import type { Topic } from '../storage/topic.js';
import type { Network } from '../wire/network.js';

export const SHARDS = [0, 1, 2] as const;
export const ID_KEY = '07'.repeat(32);
export const STREAM_KEY = '11'.repeat(32);
/** No database is restored in a simulation. */
export const JOURNAL_LIFE = { id: '00000000-0000-8000-8000-000000000001' };
export const SERVICE_TOKEN = 'simulated';

export interface WorldSettings {
  readonly shard: ShardSettings;
  readonly stream: {
    readonly history: number;
    readonly snapshotPart: number;
    readonly timelinePage: number;
    readonly bufferedMessages: number;
    readonly overflowMillis: number;
  };
  readonly executionConcurrency: number;
}

/** The environment of processes. */
export interface World {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly trace: Trace;
  readonly network: Network;
  readonly topics: readonly Topic[];
  readonly database: SimulatedDatabase;
  readonly snapshots: MemorySnapshotStore;
  readonly settings: WorldSettings;
  /** For each gateway, how far its feed has come in each shard. */
  readonly feeds: Map<string, () => readonly number[]>;
  /** A gateway has read stored histories of an account's auctions. */
  readonly onRecall: () => void;
  /** A gateway has taken events from an owner before it read them from the topic. */
  readonly onTold: () => void;
  /** A part of a process reported a fault; this is not a violation by itself. */
  readonly onFault: (host: string, what: string, error: unknown) => void;
}

export function topicOf({ topics }: World, shard: number): Topic {
  const topic = topics[shard];
  if (topic === undefined) throw new RangeError(`there is no shard ${shard}`);
  return topic;
}
