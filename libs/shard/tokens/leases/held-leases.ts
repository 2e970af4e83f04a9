import type { Clock } from '#libs/platform/time/clock.js';
import { leasedKey, type LeaseReport, type LeaseWish } from '../token-messages.js';

/** How long a holder may take from a lease, counted from its request. */
export const LEASE_MILLIS = 10_000;

/** The home shard of an account, and the connection to its process. */
export interface HomeConnection {
  readonly shard: number;
  readonly connection: number;
}

interface Lease {
  readonly number: number;
  readonly home: HomeConnection;
  readonly key: string;
  readonly until: bigint;
  state: 'REQUESTED' | 'OPEN' | 'DONE';
  size: number;
  used: number;
  usedAt: bigint;
}

/** `TAKEN`: there was a token. `FEW_LEFT`: there was one, and few are left. `NONE`: there was none. */
export type Taken = 'TAKEN' | 'FEW_LEFT' | 'NONE';

const GIVE_BACK_AFTER_NANOS = 2_000_000_000n;
const LEASE_NANOS = BigInt(LEASE_MILLIS) * 1_000_000n;
/** With a quarter left the next lease is requested, so that it is there before this one ends. */
const FEW = 4;
/** One in use, and one requested ahead. */
const MOST_OF_ONE_BUCKET = 2;
const MOST_LEASES = 20_000;

/**
 * Tokens that this owner may take without asking, of accounts with another home shard. A lease ends when it is used up, recalled, unused for
 * a while, or too old, and when the connection changes: a new process at the home shard does not know it. The use of an ended lease is
 * reported until the home shard has acknowledged it, or counts the whole lease as used anyway.
 */
export class HeldLeases<Bucket extends string> {
  private readonly leases = new Map<number, Lease>();
  /** Leases that are requested or open. */
  private readonly byBucket = new Map<string, Lease[]>();
  private readonly unreported = new Map<number, Map<number, Lease>>();
  private last = 0;

  constructor(
    private readonly clock: Clock,
    private readonly mostLeases = MOST_LEASES,
  ) {}

  get size(): number {
    return this.leases.size;
  }

  take(home: HomeConnection, account: string, bucket: Bucket): Taken {
    const held = this.byBucket.get(leasedKey(account, bucket));
    if (held === undefined) return 'NONE';
    const now = this.clock.monotonicNanos();
    for (const lease of [...held]) {
      if (isUseless(lease, home.connection, now)) this.end(lease);
      else if (lease.state === 'OPEN') return this.takeFrom(lease, held.length === 1, now);
    }
    return 'NONE';
  }

  /** Returns a lease to request; undefined where one is requested already, or there are enough. */
  wish(home: HomeConnection, account: string, bucket: Bucket): LeaseWish<Bucket> | undefined {
    const key = leasedKey(account, bucket);
    const held = this.byBucket.get(key) ?? [];
    const isEnough = held.length >= MOST_OF_ONE_BUCKET || this.leases.size >= this.mostLeases;
    if (isEnough || held.some(({ state }) => state === 'REQUESTED')) return undefined;
    const usedAt = this.clock.monotonicNanos();
    const number = (this.last += 1);
    const until = usedAt + LEASE_NANOS;
    const lease: Lease = { number, home, key, until, state: 'REQUESTED', size: 0, used: 0, usedAt };
    this.leases.set(number, lease);
    this.byBucket.set(key, [...held, lease]);
    return { account, bucket, lease: number };
  }

  /** The home shard has leased `size` tokens. It may have recalled them already, by its own connection. */
  arrived(number: number, size: number): void {
    const lease = this.leases.get(number);
    if (lease?.state !== 'REQUESTED') return;
    if (size === 0) {
      this.forget(lease);
      return;
    }
    lease.state = 'OPEN';
    lease.size = size;
    lease.usedAt = this.clock.monotonicNanos();
  }

  /** The home shard may or may not have granted the lease, so the lease is reported as unused. */
  unanswered(number: number): void {
    const lease = this.leases.get(number);
    if (lease?.state === 'REQUESTED') this.end(lease);
  }

  /** Takes nothing more from these leases. Null for a lease that this process has not requested. */
  recall(numbers: readonly number[]): (number | null)[] {
    return numbers.map((number) => {
      const lease = this.leases.get(number);
      if (lease === undefined) return null;
      this.end(lease);
      return lease.used;
    });
  }

  get homesToReportTo(): number[] {
    return [...this.unreported.keys()];
  }

  reportsFor(home: number): LeaseReport[] {
    const unreported = this.unreported.get(home)?.values() ?? [];
    return Array.from(unreported, ({ number, used, state }): LeaseReport => [number, used, state === 'DONE']);
  }

  /** The home shard has received these reports. Use after them is reported the next time. */
  acknowledged(home: number, reports: readonly LeaseReport[]): void {
    for (const [number, used, done] of reports) {
      const lease = this.leases.get(number);
      if (lease === undefined) continue;
      if (done) this.forget(lease);
      else if (lease.state === 'OPEN' && lease.used === used) this.reported(home, number);
    }
  }

  /** Ends leases that are unused or too old, and forgets those that were never answered. */
  expire(connectionTo: (home: number) => number | undefined): void {
    const now = this.clock.monotonicNanos();
    for (const lease of this.leases.values()) {
      const isResting = lease.state === 'OPEN' && now - lease.usedAt >= GIVE_BACK_AFTER_NANOS;
      if (now >= lease.until && lease.state !== 'OPEN') this.forget(lease);
      else if (isResting || isUseless(lease, connectionTo(lease.home.shard), now)) this.end(lease);
    }
  }

  private takeFrom(lease: Lease, isLast: boolean, now: bigint): Taken {
    lease.used += 1;
    lease.usedAt = now;
    const left = lease.size - lease.used;
    if (left === 0) this.end(lease);
    else this.toReport(lease);
    return isLast && left * FEW <= lease.size ? 'FEW_LEFT' : 'TAKEN';
  }

  private end(lease: Lease): void {
    if (lease.state === 'DONE') return;
    lease.state = 'DONE';
    this.leaveBucket(lease);
    this.toReport(lease);
  }

  private forget(lease: Lease): void {
    this.leases.delete(lease.number);
    this.leaveBucket(lease);
    this.reported(lease.home.shard, lease.number);
  }

  private leaveBucket(lease: Lease): void {
    const others = (this.byBucket.get(lease.key) ?? []).filter((other) => other !== lease);
    if (others.length > 0) this.byBucket.set(lease.key, others);
    else this.byBucket.delete(lease.key);
  }

  private toReport(lease: Lease): void {
    const ofHome = this.unreported.get(lease.home.shard);
    if (ofHome === undefined) this.unreported.set(lease.home.shard, new Map([[lease.number, lease]]));
    else ofHome.set(lease.number, lease);
  }

  private reported(home: number, number: number): void {
    const ofHome = this.unreported.get(home);
    ofHome?.delete(number);
    if (ofHome?.size === 0) this.unreported.delete(home);
  }
}

function isUseless({ home, until, state }: Lease, connection: number | undefined, now: bigint): boolean {
  return state !== 'DONE' && (home.connection !== connection || now >= until);
}
