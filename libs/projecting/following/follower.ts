import type { Pool } from 'pg';
import { isDamage, JournalCorrupt } from '#libs/journal/journal-errors.js';
import type { JournalReader } from '#libs/journal/journal.js';
import { type JournalTail, tail } from '#libs/journal/tail.js';
import { type Cancel, type Clock, untilNext } from '#libs/platform/time/clock.js';
import { type OnFault, quietly } from '#libs/platform/process/log.js';
import type { ProjectedEnd } from '../offsets.js';
import { PositionGap, type Projector } from '../projector.js';
import { DamageTrackingReader } from './damage-tracking-reader.js';
import { ShardLeases } from './leases.js';

export interface FollowerPorts {
  readonly pool: Pool;
  readonly reader: JournalReader;
  readonly projector: Pick<Projector<never>, 'offsets' | 'take' | 'name'>;
  readonly clock: Clock;
  readonly shards: readonly number[];
  readonly onFault: OnFault;
}

/** How soon another process takes over the shards of a process that is gone. */
const LEASE_MILLIS = 400;
/** A process that holds every shard only confirms its leases. */
const HELD_MILLIS = 2_000;
/** A healthy round takes almost no time. Within this time one must succeed. */
const ROUND_WITHIN_NANOS = 20_000_000_000n;
/** A batch of a hundred records costs little more than one of ten, so rows may be a little late. */
const POLL_MILLIS = { min: 100, max: 500 };

/** Keeps a projection up with the journals of all shards that no other process follows. */
export class Follower {
  private readonly leases: ShardLeases;
  private readonly onFault: OnFault;
  private readonly reader: DamageTrackingReader;
  private tail: JournalTail | undefined;
  private followed: ReadonlySet<number> = new Set();
  /** Position that each shard must reach before this process counts as caught up. */
  private goals = new Map<number, number>();
  private hasFollowed = false;
  private succeededAt: bigint;
  private mustRestart = false;
  private stopped = false;
  private cancel: Cancel = () => undefined;
  private round: Promise<void> = Promise.resolve();

  constructor(private readonly ports: FollowerPorts) {
    this.leases = new ShardLeases(ports.pool, ports.projector.name, ports.shards);
    this.onFault = quietly(ports.onFault, ports.clock);
    this.reader = new DamageTrackingReader(ports.reader);
    this.succeededAt = ports.clock.monotonicNanos();
  }

  start(): void {
    // One round at a time: two would follow twice.
    this.round = this.runRound();
    void this.round.then(() => {
      if (this.stopped) return;
      const holdsAll = this.followed.size === this.ports.shards.length && !this.mustRestart;
      const { clock } = this.ports;
      this.cancel = clock.after(untilNext(clock, holdsAll ? HELD_MILLIS : LEASE_MILLIS), () => {
        this.start();
      });
    });
  }

  /** Writes the batch in hand, then lets other processes take over. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.cancel();
    await this.round;
    await this.tail?.stop();
    this.leases.release();
  }

  /** Shards that this process follows. */
  get shards(): ReadonlySet<number> {
    return this.followed;
  }

  /** Whether the journals can be followed. If not, the offsets do not tell how far the journals have come. */
  get canRead(): boolean {
    return this.reader.isSound;
  }

  /** Whether this process still finds out which shards are its own, and can follow them. */
  get isRenewing(): boolean {
    return this.ports.clock.monotonicNanos() - this.succeededAt < ROUND_WITHIN_NANOS;
  }

  /** Whether all records are projected that were in the journal when this process took the shards over. */
  get hasCaughtUp(): boolean {
    if (!this.hasFollowed) return false;
    for (const [shard, goal] of this.goals) {
      if ((this.tail?.position(shard) ?? 0) < goal) return false;
    }
    this.goals.clear();
    return true;
  }

  private async runRound(): Promise<void> {
    try {
      const held = await this.leases.renew();
      if (this.mustRestart || held.size !== this.followed.size) await this.follow(held);
      else if (held.size === 0 && !this.canRead) await this.tryReading();
      else await this.resumeRepaired();
      this.hasFollowed = true;
      this.succeededAt = this.ports.clock.monotonicNanos();
    } catch (error) {
      this.reader.handleError(error);
      this.onFault('following', error);
      await this.stopFollowing();
    }
  }

  /** Other processes follow every shard, so only this read finds out that the journals are readable again. */
  private async tryReading(): Promise<void> {
    await this.reader.heads();
    this.reader.clearAll();
  }

  /** Resumes repaired shards. If projected records are gone, a fault is reported until the projection is rebuilt. */
  private async resumeRepaired(): Promise<void> {
    const damaged = [...this.reader.damagedShards].filter((shard) => this.followed.has(shard));
    if (damaged.length === 0) return;
    const stored = await this.ports.projector.offsets.ends(this.ports.pool);
    for (const shard of damaged) {
      const isRepaired = await this.isSoundFrom(shard, stored.get(shard)).catch((error: unknown) => {
        if (!isDamage(error)) throw error;
        this.onFault(`shard ${shard}`, error);
        return false;
      });
      if (!isRepaired) continue;
      await this.follow(this.followed);
      return;
    }
  }

  private async isSoundFrom(shard: number, end: ProjectedEnd | undefined): Promise<boolean> {
    await this.checkThere(shard, end);
    const [next] = await this.reader.read(shard, (end?.sequence ?? 0) + 1, 1);
    return end === undefined || next === undefined || next.previousHash === end.hash;
  }

  private async stopFollowing(): Promise<void> {
    await this.tail?.stop();
    this.tail = undefined;
    this.followed = new Set();
  }

  private async follow(shards: ReadonlySet<number>): Promise<void> {
    await this.stopFollowing();
    const { pool, clock, projector } = this.ports;
    const { reader } = this;
    const stored = await projector.offsets.ends(pool);
    reader.clearAll();
    this.goals = new Map();
    const sound: number[] = [];
    for (const shard of shards) {
      if (await this.canFollow(shard, stored.get(shard))) sound.push(shard);
    }
    this.mustRestart = false;
    this.followed = new Set(shards);
    this.tail = tail({
      reader,
      clock,
      positions: new Map(sound.map((shard) => [shard, stored.get(shard)?.sequence ?? 0])),
      pollMillis: POLL_MILLIS,
      onEntries: async (shard, entries) => {
        await projector.take(shard, entries);
        reader.clear(shard);
      },
      onFailure: (error, shard) => {
        if (error instanceof PositionGap) this.mustRestart = true;
        reader.handleError(error);
        this.onFault(shard === undefined ? 'journal heads' : `shard ${shard}`, error);
      },
    });
  }

  /** A damaged shard does not keep the others from being followed. */
  private async canFollow(shard: number, end: ProjectedEnd | undefined): Promise<boolean> {
    try {
      const heads = await this.reader.heads([shard]);
      await this.checkThere(shard, end);
      this.goals.set(shard, heads.get(shard) ?? 0);
      return true;
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.reader.markDamaged(shard);
      this.onFault(`shard ${shard}`, error);
      return false;
    }
  }

  /** Without this check, a journal that was cut off before the offset would be followed with other records after it. */
  private async checkThere(shard: number, end: ProjectedEnd | undefined): Promise<void> {
    if (end === undefined || end.sequence === 0) return;
    const [entry] = await this.reader.read(shard, end.sequence, 1);
    if (entry?.hash === end.hash) return;
    const isGone = entry === undefined;
    const why = isGone ? 'it is projected, but not there' : 'it is not the record that was projected';
    throw new JournalCorrupt(
      shard,
      end.sequence,
      `${why}; if the journal is right, repair the projection with npm run projection -- rebuild`,
    );
  }
}
