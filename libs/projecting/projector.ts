import type { ClientBase, Pool } from 'pg';
import type { JournalEntry } from '#libs/journal/journal.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { withTransaction } from '#libs/platform/database/postgres.js';
import type { Projection } from '#libs/auction/projections/projection.js';
import { ShardMemory } from './shard-memory.js';

const REMEMBERED_AUCTIONS = 20_000;
const NANOS_PER_SECOND = 1e9;

/** What projectors report of their work to whoever measures. */
export interface ProjectorMeter {
  applied(shard: number, events: number, seconds: number): void;
}

/** Runs the work within one transaction. */
export type InTransaction = <T>(work: (client: ClientBase) => Promise<T>) => Promise<T>;

export function transactionsOf(pool: Pool): InTransaction {
  return (work) => withTransaction(pool, 'read committed', work);
}

/** Applies entries batch by batch, and remembers what the next batch will need. Of two that do so at once, the one that comes second finds nothing left. */
export class Projector {
  private readonly memories = new Map<number, ShardMemory>();

  constructor(
    private readonly inTransaction: InTransaction,
    private readonly projection: Projection,
    private readonly clock: Clock,
    private readonly meter: ProjectorMeter,
  ) {}

  /** Resolves with the shard's position when the transaction is over. */
  async take(shard: number, entries: readonly JournalEntry[]): Promise<number> {
    const memory = this.memoryOf(shard);
    const begun = this.clock.monotonicNanos();
    const { from, to, touched } = await this.inTransaction((client) =>
      this.projection.apply(client, shard, entries, (position, id) => memory.recall(position, id)),
    );
    memory.move(from, to, touched);
    const seconds = Number(this.clock.monotonicNanos() - begun) / NANOS_PER_SECOND;
    this.meter.applied(shard, to - from, seconds);
    return to;
  }

  private memoryOf(shard: number): ShardMemory {
    const known = this.memories.get(shard);
    if (known !== undefined) return known;
    const memory = new ShardMemory(REMEMBERED_AUCTIONS);
    this.memories.set(shard, memory);
    return memory;
  }
}
