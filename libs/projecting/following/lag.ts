import type { Pool } from 'pg';
import type { JournalReader } from '#libs/journal/journal.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { PolledAnswer } from '#libs/platform/time/polled-answer.js';
import { type OnFault, quietly } from '#libs/platform/process/log.js';
import { OffsetsTable } from '../offsets.js';
import type { ProjectionTables } from '../projection.js';

export interface ShardLag {
  readonly shard: number;
  readonly head: number;
  readonly position: number;
  /**
   * Journal records that are not projected yet. Negative where the offset is past the end of the journal, which only damage can
   * cause.
   */
  readonly lag: number;
}

export interface LagPorts {
  readonly pool: Pool;
  readonly reader: JournalReader;
  readonly projection: ProjectionTables;
}

export async function projectionLag({ pool, reader, projection }: LagPorts): Promise<ShardLag[]> {
  // Positions first: heads only grow, so no projector is ahead of them.
  const positions = await new OffsetsTable(projection).positions(pool);
  const heads = await reader.heads();
  return [...heads]
    .map(([shard, head]) => ({ shard, head, position: positions.get(shard) ?? 0 }))
    .map((row) => ({ ...row, lag: row.head - row.position }))
    .sort((a, b) => a.shard - b.shard);
}

/**
 * The pool must be used for nothing else, and its server must end queries after a time limit: locks on the tables must not block
 * it for long.
 */
export interface LagMonitorPorts extends LagPorts {
  readonly clock: Clock;
  readonly shards: readonly number[];
  readonly onFault: OnFault;
}

export type KnownLag = Pick<ShardLag, 'shard' | 'position' | 'lag'>;

const EVERY_MILLIS = 2_000;
/** Longer than each query may take, so that queries never pile up. */
const WITHIN_MILLIS = 25_000;
/** An older value tells nothing about the present. */
const MAX_AGE_MILLIS = 10_000;
const STALLED_AFTER_NANOS = 30_000_000_000n;

interface Advance {
  readonly position: number;
  /** When this position was first seen, or last seen at the end of the journal. */
  readonly since: bigint;
}

/** Polls how far journals and projection are and keeps the last values, so that no caller waits. */
export class LagMonitor {
  private readonly positions: PolledAnswer<ReadonlyMap<number, number>>;
  private readonly heads: ReadonlyMap<number, PolledAnswer<number>>;
  private readonly advances = new Map<number, Advance>();

  constructor(private readonly ports: LagMonitorPorts) {
    const { reader, clock, shards } = ports;
    const onFault = quietly(ports.onFault, clock);
    const table = new OffsetsTable(ports.projection);
    const pace = { clock, everyMillis: EVERY_MILLIS, withinMillis: WITHIN_MILLIS };
    this.positions = new PolledAnswer({
      ...pace,
      question: () => this.pollPositions(table),
      onFault: (error) => {
        onFault('positions', error);
      },
    });
    const headOf = (shard: number): PolledAnswer<number> =>
      new PolledAnswer({
        ...pace,
        question: async () => (await reader.heads([shard])).get(shard) ?? 0,
        onFault: (error) => {
          onFault(`head of shard ${shard}`, error);
        },
      });
    this.heads = new Map(shards.map((shard) => [shard, headOf(shard)]));
  }

  start(): void {
    this.positions.start();
    for (const head of this.heads.values()) head.start();
  }

  stop(): void {
    this.positions.stop();
    for (const head of this.heads.values()) head.stop();
  }

  /** By shard, where head and position are both known. */
  get known(): readonly KnownLag[] {
    const positions = this.positions.value;
    if (positions === undefined) return [];
    return [...this.heads].flatMap(([shard, { value: head }]) => {
      if (head === undefined) return [];
      const position = positions.get(shard) ?? 0;
      return [{ shard, position, lag: this.lagOf(shard, head, position) }];
    });
  }

  /** By shard, the age of the older of head and position. If one is unknown, how long it has been unknown. */
  get ages(): readonly { readonly shard: number; readonly seconds: number }[] {
    const { ageSeconds } = this.positions;
    return [...this.heads].map(([shard, head]) => ({
      shard,
      seconds: Math.max(ageSeconds, head.ageSeconds),
    }));
  }

  get seesPositions(): boolean {
    return this.positions.isCurrent(MAX_AGE_MILLIS);
  }

  get seesHeads(): boolean {
    return [...this.heads.values()].every((head) => head.isCurrent(MAX_AGE_MILLIS));
  }

  /** Whether one of these shards has records that were not projected for long, or an offset past the end of its journal. */
  stands(shards: ReadonlySet<number>): boolean {
    return [...shards].some((shard) => this.isShardStalled(shard));
  }

  private isShardStalled(shard: number): boolean {
    const since = this.advances.get(shard)?.since;
    return since !== undefined && this.ports.clock.monotonicNanos() - since > STALLED_AFTER_NANOS;
  }

  /** The head may be older than the position. If that goes on, the offset is wrong and nothing counts as projected. */
  private lagOf(shard: number, head: number, position: number): number {
    if (position <= head) return head - position;
    return this.isShardStalled(shard) ? head : 0;
  }

  private async pollPositions(table: OffsetsTable): Promise<ReadonlyMap<number, number>> {
    const positions = await table.positions(this.ports.pool);
    const now = this.ports.clock.monotonicNanos();
    for (const [shard, { value: head }] of this.heads) {
      const position = positions.get(shard) ?? 0;
      const isElsewhere = head !== undefined && head !== position;
      if (isElsewhere && this.advances.get(shard)?.position === position) continue;
      this.advances.set(shard, { position, since: now });
    }
    return positions;
  }
}
