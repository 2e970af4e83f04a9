import type { Pool } from 'pg';
import type { JournalReader } from '#libs/journal/journal.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { KeptAnswer } from '#libs/platform/kept-answer.js';
import { quietly, type OnFault } from '#libs/platform/process/quiet-faults.js';
import { LIVE } from '../schemas.js';
import { PositionsTable } from '../positions.js';

export interface WatchedLagPorts {
  /** Its connections are for nothing else, and its server gives a question up: what the work waits for must not be in the way here. */
  readonly pool: Pool;
  readonly reader: JournalReader;
  readonly clock: Clock;
  readonly shards: readonly number[];
  readonly onFault: OnFault;
}

/** How far a shard is projected, for all that is known. */
export interface KnownLag {
  readonly shard: number;
  readonly position: number;
  readonly lag: number;
}

const EVERY_MILLIS = 2_000;
/** Longer than any of those that are asked takes to give up by itself, so that questions never pile up. */
const WITHIN_MILLIS = 25_000;
/** An answer that is older says nothing of what is so now. */
const MAX_AGE_MILLIS = 10_000;
const STANDS_AFTER_NANOS = 30_000_000_000n;

interface Advance {
  readonly position: number;
  /** When it was first seen there, or last where its journal ended there. */
  readonly since: bigint;
}

/** Looks again and again how far journals and projections are, and keeps what it has seen, so that whoever asks need not wait. */
export class WatchedLag {
  private readonly positions: KeptAnswer<ReadonlyMap<number, number>>;
  private readonly heads: ReadonlyMap<number, KeptAnswer<number>>;
  private readonly advances = new Map<number, Advance>();

  constructor(private readonly ports: WatchedLagPorts) {
    const { reader, clock, shards } = ports;
    const onFault = quietly(ports.onFault, clock);
    const table = new PositionsTable(LIVE);
    const pace = { clock, everyMillis: EVERY_MILLIS, withinMillis: WITHIN_MILLIS };
    this.positions = new KeptAnswer({
      ...pace,
      question: () => this.lookAtPositions(table),
      onFault: (error) => {
        onFault('positions', error);
      },
    });
    const headOf = (shard: number): KeptAnswer<number> =>
      new KeptAnswer({
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

  /** Of shards of which both ends have been seen. */
  get known(): readonly KnownLag[] {
    const positions = this.positions.value;
    if (positions === undefined) return [];
    return [...this.heads].flatMap(([shard, { value: head }]) => {
      if (head === undefined) return [];
      const position = positions.get(shard) ?? 0;
      return [{ shard, position, lag: this.lagOf(shard, head, position) }];
    });
  }

  /** By shard, how old the older half of what is known is; where nothing is, for how long that has been so. */
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

  /** Of these shards, whether one has records that nothing was made of for long, or is said to be projected beyond its end. */
  stands(shards: ReadonlySet<number>): boolean {
    return [...shards].some((shard) => this.standsStill(shard));
  }

  private standsStill(shard: number): boolean {
    const since = this.advances.get(shard)?.since;
    return since !== undefined && this.ports.clock.monotonicNanos() - since > STANDS_AFTER_NANOS;
  }

  /** The head may have been seen before the position was. Where that goes on nobody knows what of the journal is projected. */
  private lagOf(shard: number, head: number, position: number): number {
    if (position <= head) return head - position;
    return this.standsStill(shard) ? head : 0;
  }

  private async lookAtPositions(table: PositionsTable): Promise<ReadonlyMap<number, number>> {
    const positions = await table.all(this.ports.pool);
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
