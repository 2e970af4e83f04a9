import type { Pool } from 'pg';
import { isDamage, JournalCorrupt } from '#libs/journal/journal-errors.js';
import type { JournalReader } from '#libs/journal/journal.js';
import { tail, type JournalTail } from '#libs/journal/tail.js';
import { untilNext, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import { quietly, type OnFault } from '#libs/platform/process/quiet-faults.js';
import { PositionGap } from '#libs/auction/projections/projection.js';
import type { Projector } from '../projector.js';
import { LIVE } from '../schemas.js';
import { PositionsTable, type ProjectedEnd } from '../positions.js';
import { Leases } from './leases.js';
import { WatchedReader } from './watched-reader.js';

export interface FollowerPorts {
  readonly pool: Pool;
  readonly reader: JournalReader;
  readonly projector: Projector;
  readonly clock: Clock;
  readonly shards: readonly number[];
  readonly onFault: OnFault;
}

/** How soon another takes over from a process that is gone. */
const LEASE_MILLIS = 400;
/** Who holds all there is only makes sure of it. */
const HELD_MILLIS = 2_000;
/** A look takes no time where all is well; for so long none may fail, nor hang. */
const LOOKS_WITHIN_NANOS = 20_000_000_000n;
/**
 * News of auctions that are over may wait a little: until then their owner tells of them. Meanwhile a batch gathers, and a batch of
 * a hundred events costs little more than one of ten.
 */
const POLL_MILLIS = { min: 100, max: 500 };

/** Keeps the projections up with the journals of all shards that no other process is following. */
export class Follower {
  private readonly positions = new PositionsTable(LIVE);
  private readonly leases: Leases;
  private readonly onFault: OnFault;
  private readonly reader: WatchedReader;
  private tail: JournalTail | undefined;
  private followed: ReadonlySet<number> = new Set();
  /** What the first look at each shard has to reach before this process counts as having caught up. */
  private goals = new Map<number, number>();
  private hasLooked = false;
  private lookedAt: bigint;
  private mustRestart = false;
  private stopped = false;
  private cancel: Cancel = () => undefined;
  private looking: Promise<void> = Promise.resolve();

  constructor(private readonly ports: FollowerPorts) {
    this.leases = new Leases(ports.pool, ports.shards);
    this.onFault = quietly(ports.onFault, ports.clock);
    this.reader = new WatchedReader(ports.reader);
    this.lookedAt = ports.clock.monotonicNanos();
  }

  start(): void {
    // One look at a time: two would begin to follow twice.
    this.looking = this.look();
    void this.looking.then(() => {
      if (this.stopped) return;
      const holdsAll = this.followed.size === this.ports.shards.length && !this.mustRestart;
      const { clock } = this.ports;
      this.cancel = clock.after(untilNext(clock, holdsAll ? HELD_MILLIS : LEASE_MILLIS), () => {
        this.start();
      });
    });
  }

  /** The batch in hand is written; then other processes may take over. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.cancel();
    await this.looking;
    await this.tail?.stop();
    this.leases.release();
  }

  /** Shards that this process works on. */
  get shards(): ReadonlySet<number> {
    return this.followed;
  }

  /** Whether the journals can be followed; where they cannot be, nothing that is projected says how far they are. */
  get canRead(): boolean {
    return this.reader.isSound;
  }

  /** Whether it finds out again and again which shards are its own, and can take them up. */
  get isLooking(): boolean {
    return this.ports.clock.monotonicNanos() - this.lookedAt < LOOKS_WITHIN_NANOS;
  }

  /** Whether everything is projected that was journaled when the shards were taken over. */
  get hasCaughtUp(): boolean {
    if (!this.hasLooked) return false;
    for (const [shard, goal] of this.goals) {
      if ((this.tail?.position(shard) ?? 0) < goal) return false;
    }
    this.goals.clear();
    return true;
  }

  private async look(): Promise<void> {
    try {
      const held = await this.leases.renew();
      if (this.mustRestart || held.size !== this.followed.size) await this.follow(held);
      else if (held.size === 0 && !this.canRead) await this.tryReading();
      else await this.lookAtDamage();
      this.hasLooked = true;
      this.lookedAt = this.ports.clock.monotonicNanos();
    } catch (error) {
      this.reader.heed(error);
      this.onFault('following', error);
      await this.abandon();
    }
  }

  /** Others follow all there is: what stood in the way here is found out by nobody else. */
  private async tryReading(): Promise<void> {
    await this.reader.heads();
    this.reader.forgive();
  }

  /**
   * A shard whose damage is gone goes on by itself, unless something was projected that is gone as well: then that is said, until the
   * projections have been made anew.
   */
  private async lookAtDamage(): Promise<void> {
    const damaged = [...this.reader.damagedShards].filter((shard) => this.followed.has(shard));
    if (damaged.length === 0) return;
    const stored = await this.positions.ends(this.ports.pool);
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

  private async abandon(): Promise<void> {
    await this.tail?.stop();
    this.tail = undefined;
    this.followed = new Set();
  }

  private async follow(shards: ReadonlySet<number>): Promise<void> {
    await this.abandon();
    const { pool, clock, projector } = this.ports;
    const { reader } = this;
    const stored = await this.positions.ends(pool);
    reader.forgive();
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
        reader.absolve(shard);
      },
      onFailure: (error, shard) => {
        if (error instanceof PositionGap) this.mustRestart = true;
        reader.heed(error);
        this.onFault(shard === undefined ? 'journal heads' : `shard ${shard}`, error);
      },
    });
  }

  /** What is wrong with one shard keeps nobody from following the others. */
  private async canFollow(shard: number, end: ProjectedEnd | undefined): Promise<boolean> {
    try {
      const heads = await this.reader.heads([shard]);
      await this.checkThere(shard, end);
      this.goals.set(shard, heads.get(shard) ?? 0);
      return true;
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.reader.condemn(shard);
      this.onFault(`shard ${shard}`, error);
      return false;
    }
  }

  /** A journal that was cut off before what is projected would be gone on with behind other records. */
  private async checkThere(shard: number, end: ProjectedEnd | undefined): Promise<void> {
    if (end === undefined || end.sequence === 0) return;
    const [entry] = await this.reader.read(shard, end.sequence, 1);
    if (entry?.hash === end.hash) return;
    const isGone = entry === undefined;
    const why = isGone ? 'it is projected, but not there' : 'it is not the record that was projected';
    throw new JournalCorrupt(
      shard,
      end.sequence,
      `${why}; where the journal is right, npm run projection -- rebuild makes anew what was made of it`,
    );
  }
}
