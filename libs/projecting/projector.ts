import { secondsOf } from '#libs/base/instant.js';
import type { ClientBase, Pool } from 'pg';
import { JournalCorrupt } from '#libs/journal/journal-errors.js';
import type { JournalEntry, JournalHead, JournalReader } from '#libs/journal/journal.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { withTransaction } from '#libs/platform/database/postgres.js';
import { OffsetsTable } from './offsets.js';
import { LIVE, type Projection, type ProjectionWriter } from './projection.js';

const REPLAY_BATCH = 1_000;

/** What projectors report of their work. */
export interface ProjectorMeter {
  applied(shard: number, events: number, seconds: number): void;
}

/** Runs the work within one transaction. */
export type InTransaction = <T>(work: (client: ClientBase) => Promise<T>) => Promise<T>;

export function transactionsOf(pool: Pool): InTransaction {
  return (work) => withTransaction(pool, 'read committed', work);
}

export interface ProjectorPorts {
  readonly inTransaction: InTransaction;
  readonly clock: Clock;
  readonly meter?: ProjectorMeter;
}

/** The entries do not continue at the shard's offset. */
export class PositionGap extends Error {
  override readonly name = 'PositionGap';

  constructor(shard: number, position: number, next: number) {
    super(`shard ${shard} is projected up to ${position} and cannot go on with ${next}`);
  }
}

/**
 * Applies records batch by batch, each batch in one transaction with its offset. If two projectors apply the same batch, the
 * second finds nothing left to do.
 */
export class Projector<Kept> {
  readonly name: string;
  readonly offsets: OffsetsTable;
  private readonly writer: ProjectionWriter<Kept>;
  private readonly memories = new Map<number, ShardMemory<Kept>>();

  constructor(
    private readonly projection: Projection<Kept>,
    private readonly ports: ProjectorPorts,
    schemaOf = LIVE,
  ) {
    this.name = projection.name;
    this.offsets = new OffsetsTable(projection, schemaOf);
    this.writer = projection.writer(schemaOf);
  }

  /**
   * Takes consecutive records of one shard and resolves with its new position. Records at or below the offset are skipped, so
   * records may come again, from any caller.
   */
  async take(shard: number, entries: readonly JournalEntry[]): Promise<number> {
    const { clock, inTransaction, meter } = this.ports;
    const begun = clock.monotonicNanos();
    const memory = this.memoryOf(shard);
    const { from, to, kept } = await inTransaction(async (client) => {
      const offset = await this.offsets.lock(client, shard);
      const fresh = entries.filter(({ sequence }) => sequence > offset.sequence);
      const last = fresh.at(-1);
      if (last === undefined) return { from: offset.sequence, to: offset.sequence, kept: new Map() };
      checkFollows(shard, offset, fresh);
      const recall = (key: string): Kept | undefined => memory.recall(offset.sequence, key);
      const kept = await this.writer.apply(client, { shard, entries: fresh }, recall);
      await this.offsets.move(client, last);
      return { from: offset.sequence, to: last.sequence, kept };
    });
    memory.move(from, to, kept);
    meter?.applied(shard, to - from, secondsOf(clock.monotonicNanos() - begun));
    return to;
  }

  /** Reads and applies what the journal has between two positions of the shard. */
  async replay(
    reader: JournalReader,
    shard: number,
    { from, to }: { readonly from: number; readonly to: number },
  ): Promise<void> {
    let position = from;
    while (position < to) {
      const entries = await reader.read(shard, position + 1, Math.min(REPLAY_BATCH, to - position));
      if (entries.length === 0) {
        const what = `it ends at ${position}, but is known to go on to ${to}`;
        throw new JournalCorrupt(shard, position + 1, what);
      }
      position = await this.take(shard, entries);
    }
  }

  private memoryOf(shard: number): ShardMemory<Kept> {
    const known = this.memories.get(shard);
    if (known !== undefined) return known;
    const memory = new ShardMemory<Kept>(this.projection.capacity);
    this.memories.set(shard, memory);
    return memory;
  }
}

function checkFollows(shard: number, offset: JournalHead, [first]: readonly JournalEntry[]): void {
  if (first === undefined) return;
  if (first.sequence !== offset.sequence + 1) throw new PositionGap(shard, offset.sequence, first.sequence);
  if (first.previousHash === offset.hash) return;
  throw new JournalCorrupt(shard, offset.sequence, 'it is not the record that was projected');
}

/** What a projection remembers of a shard at one position, so that the next batch need not read it. It may forget at any time. */
class ShardMemory<Kept> {
  private position = 0;
  private readonly kept = new Map<string, Kept>();

  constructor(private readonly capacity: number) {}

  recall(position: number, key: string): Kept | undefined {
    return position === this.position ? this.kept.get(key) : undefined;
  }

  /** Notes a committed batch that led from one position to another. A key without a value is forgotten. */
  move(from: number, to: number, batch: ReadonlyMap<string, Kept | undefined>): void {
    if (from !== this.position) this.kept.clear();
    this.position = to;
    for (const [key, value] of batch) {
      this.kept.delete(key);
      if (value !== undefined) this.kept.set(key, value);
    }
    for (const key of this.kept.keys()) {
      if (this.kept.size <= this.capacity) return;
      this.kept.delete(key);
    }
  }
}
