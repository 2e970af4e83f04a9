import type { LeaseReport, LeaseWish, LeasedBucket } from '#libs/auction/protocol/protocol.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { LEASE_MILLIS } from './lease-times.js';
import { leasedKey } from './leased-bucket.js';

/** Where an account's buckets live, and by which connection that process is reached. */
export interface Home {
  readonly shard: number;
  readonly connection: number;
}

interface Lease {
  readonly number: number;
  readonly home: Home;
  readonly key: string;
  readonly until: bigint;
  state: 'ASKED' | 'OPEN' | 'DONE';
  size: number;
  used: number;
  usedAt: bigint;
}

/** A token was there; one was there and few are left; none was. */
export type Taken = 'TAKEN' | 'FEW_LEFT' | 'NONE';

const GIVE_BACK_AFTER_NANOS = 2_000_000_000n;
const LEASE_NANOS = BigInt(LEASE_MILLIS) * 1_000_000n;
/** With a quarter left the next lease is asked for, so that it is there before this one ends. */
const FEW = 4;
/** One that is used, and one asked for ahead. */
const MOST_OF_ONE_BUCKET = 2;
const MOST_LEASES = 20_000;

/**
 * Tokens that this owner may take without asking, of accounts whose home is elsewhere. A lease ends when it is used up, called in, has not
 * been used for a while, has had its time, or when the connection to the home is another: behind a new one there may be a new process, that
 * knows nothing of it. What was used of an ended lease is told until the home has heard it or counts all of it as used anyway.
 */
export class HeldLeases {
  private readonly leases = new Map<number, Lease>();
  /** Those that are asked for or open. */
  private readonly byBucket = new Map<string, Lease[]>();
  private readonly untold = new Map<number, Map<number, Lease>>();
  private last = 0;

  constructor(
    private readonly clock: Clock,
    private readonly mostLeases = MOST_LEASES,
  ) {}

  get size(): number {
    return this.leases.size;
  }

  take(home: Home, account: string, bucket: LeasedBucket): Taken {
    const held = this.byBucket.get(leasedKey(account, bucket));
    if (held === undefined) return 'NONE';
    const now = this.clock.monotonicNanos();
    for (const lease of [...held]) {
      if (isUseless(lease, home.connection, now)) this.end(lease);
      else if (lease.state === 'OPEN') return this.takeFrom(lease, held.length === 1, now);
    }
    return 'NONE';
  }

  /** Names a lease that is asked for from now on; undefined where there is one on its way, or enough. */
  wish(home: Home, account: string, bucket: LeasedBucket): LeaseWish | undefined {
    const key = leasedKey(account, bucket);
    const held = this.byBucket.get(key) ?? [];
    const isEnough = held.length >= MOST_OF_ONE_BUCKET || this.leases.size >= this.mostLeases;
    if (isEnough || held.some(({ state }) => state === 'ASKED')) return undefined;
    const usedAt = this.clock.monotonicNanos();
    const number = (this.last += 1);
    const until = usedAt + LEASE_NANOS;
    const lease: Lease = { number, home, key, until, state: 'ASKED', size: 0, used: 0, usedAt };
    this.leases.set(number, lease);
    this.byBucket.set(key, [...held, lease]);
    return { account, bucket, lease: number };
  }

  /** The home has leased so many tokens. It may have called them in again already, by the other connection. */
  arrived(number: number, size: number): void {
    const lease = this.leases.get(number);
    if (lease?.state !== 'ASKED') return;
    if (size === 0) {
      this.forget(lease);
      return;
    }
    lease.state = 'OPEN';
    lease.size = size;
    lease.usedAt = this.clock.monotonicNanos();
  }

  /** Nobody knows whether the home has leased anything: it is told that nothing was used. */
  unanswered(number: number): void {
    const lease = this.leases.get(number);
    if (lease?.state === 'ASKED') this.end(lease);
  }

  /** Nothing is taken from these any more. Null stands for what this life has not asked for. */
  callIn(numbers: readonly number[]): (number | null)[] {
    return numbers.map((number) => {
      const lease = this.leases.get(number);
      if (lease === undefined) return null;
      this.end(lease);
      return lease.used;
    });
  }

  get homesToTell(): number[] {
    return [...this.untold.keys()];
  }

  reportsFor(home: number): LeaseReport[] {
    const untold = this.untold.get(home)?.values() ?? [];
    return Array.from(untold, ({ number, used, state }): LeaseReport => [number, used, state === 'DONE']);
  }

  /** The home has heard this. What was used in the meantime is told the next time. */
  told(home: number, reports: readonly LeaseReport[]): void {
    for (const [number, used, done] of reports) {
      const lease = this.leases.get(number);
      if (lease === undefined) continue;
      if (done) this.forget(lease);
      else if (lease.state === 'OPEN' && lease.used === used) this.isTold(home, number);
    }
  }

  /** Ends what rests or is out of date, and forgets what has not been heard in all its time. */
  tidy(connectionTo: (home: number) => number | undefined): void {
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
    else this.isUntold(lease);
    return isLast && left * FEW <= lease.size ? 'FEW_LEFT' : 'TAKEN';
  }

  private end(lease: Lease): void {
    if (lease.state === 'DONE') return;
    lease.state = 'DONE';
    this.leaveBucket(lease);
    this.isUntold(lease);
  }

  private forget(lease: Lease): void {
    this.leases.delete(lease.number);
    this.leaveBucket(lease);
    this.isTold(lease.home.shard, lease.number);
  }

  private leaveBucket(lease: Lease): void {
    const others = (this.byBucket.get(lease.key) ?? []).filter((other) => other !== lease);
    if (others.length > 0) this.byBucket.set(lease.key, others);
    else this.byBucket.delete(lease.key);
  }

  private isUntold(lease: Lease): void {
    const ofHome = this.untold.get(lease.home.shard);
    if (ofHome === undefined) this.untold.set(lease.home.shard, new Map([[lease.number, lease]]));
    else ofHome.set(lease.number, lease);
  }

  private isTold(home: number, number: number): void {
    const ofHome = this.untold.get(home);
    ofHome?.delete(number);
    if (ofHome?.size === 0) this.untold.delete(home);
  }
}

function isUseless({ home, until, state }: Lease, connection: number | undefined, now: bigint): boolean {
  return state !== 'DONE' && (home.connection !== connection || now >= until);
}
