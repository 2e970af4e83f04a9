import type { LeaseHolder, LeaseReport, LeaseWish, LeasedBucket } from '#libs/auction/protocol/protocol.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { AccountBuckets } from '../buckets.js';
import { LEASE_IS_OVER_MILLIS } from './lease-times.js';
import { leasedKey } from './leased-bucket.js';

interface Lease {
  readonly holder: LeaseHolder;
  readonly number: number;
  readonly account: string;
  readonly bucket: LeasedBucket;
  readonly size: number;
  readonly overAt: bigint;
  used: number;
  isCalledIn: boolean;
}

/** Leases of one account and bucket that one holder is to give an account of. */
export interface CallIn {
  readonly holder: LeaseHolder;
  readonly numbers: readonly number[];
}

export interface LeaseLedgerOptions {
  readonly clock: Clock;
  readonly buckets: Pick<AccountBuckets, 'availableOf' | 'lease' | 'settle'>;
  readonly limitsFactor: number;
  readonly mostLeases?: number;
}

/** A lease is so small a part of what is there that what all others may want is still there. */
const PART_OF_AVAILABLE = 8;
/** A third of a second of quotes at their rate. More would save little, and it is what is lost with a holder that dies. */
const MOST_TOKENS = 16;
/** Below it the answer would be worth no more than the question. */
const LEAST_TOKENS = 2;
/** One that is used and one that was asked for ahead, and as many again of which the end is still to be told. */
const MOST_OF_ONE_HOLDER = 4;
const MOST_LEASES = 50_000;
const NANOS_PER_MILLI = 1_000_000n;

/** What the home of accounts has leased of their buckets, and what it knows of its use. What is out has left the bucket. */
export class LeaseLedger {
  /** In the order in which they were given, which is that in which they are over. */
  private readonly leases = new Map<string, Lease>();
  private readonly byBucket = new Map<string, Set<Lease>>();

  constructor(private readonly options: LeaseLedgerOptions) {}

  get size(): number {
    return this.leases.size;
  }

  /** How many tokens are leased; none where that would not be worth it. */
  grant(holder: LeaseHolder, { account, bucket, lease: number }: LeaseWish): number {
    const { buckets, clock } = this.options;
    const id = idOf(holder, number);
    const repeated = this.leases.get(id);
    if (repeated !== undefined) return repeated.size;
    const size = this.sizeFor(holder, account, bucket);
    if (size === 0 || !buckets.lease(account, bucket, size)) return 0;
    const overAt = clock.monotonicNanos() + BigInt(LEASE_IS_OVER_MILLIS) * NANOS_PER_MILLI;
    const lease = { holder, number, account, bucket, size, overAt, used: 0, isCalledIn: false };
    this.leases.set(id, lease);
    const key = leasedKey(account, bucket);
    const others = this.byBucket.get(key);
    if (others === undefined) this.byBucket.set(key, new Set([lease]));
    else others.add(lease);
    return size;
  }

  /** What a holder says of its use. Counts are from the beginning of the lease, so none counts twice and a late one not at all. */
  report(holder: LeaseHolder, reports: readonly LeaseReport[]): void {
    for (const [number, used, done] of reports) {
      const lease = this.leases.get(idOf(holder, number));
      if (lease === undefined) continue;
      this.note(lease, used);
      if (done) this.end(lease, 'GIVEN_BACK');
    }
  }

  /** Whether there is something out that has not been called in: before that nobody may be refused. */
  isOut(account: string, bucket: LeasedBucket): boolean {
    for (const lease of this.byBucket.get(leasedKey(account, bucket)) ?? [])
      if (!lease.isCalledIn) return true;
    return false;
  }

  /** What is to be called in now, holder by holder. Each lease is called in once: its holder tells its end by itself too. */
  callIn(account: string, bucket: LeasedBucket): CallIn[] {
    const calls = new Map<string, { holder: LeaseHolder; numbers: number[] }>();
    for (const lease of this.byBucket.get(leasedKey(account, bucket)) ?? []) {
      if (lease.isCalledIn) continue;
      lease.isCalledIn = true;
      const { holder, number } = lease;
      const call = calls.get(lifeOf(holder));
      if (call === undefined) calls.set(lifeOf(holder), { holder, numbers: [number] });
      else call.numbers.push(number);
    }
    return [...calls.values()];
  }

  /** A holder that knows nothing of a lease has begun anew, and nobody knows what its former life has used. */
  calledIn({ holder, numbers }: CallIn, used: readonly (number | null)[]): void {
    for (const [index, number] of numbers.entries()) {
      const lease = this.leases.get(idOf(holder, number));
      const count = used[index];
      if (lease === undefined || count === undefined) continue;
      if (count !== null) this.note(lease, count);
      this.end(lease, count === null ? 'USED' : 'GIVEN_BACK');
    }
  }

  /** Nobody can take from a lease any more of which nothing was heard in its time. What it says of its use is not known, so all of it. */
  tidy(): void {
    const now = this.options.clock.monotonicNanos();
    for (const lease of this.leases.values()) {
      if (lease.overAt > now) return;
      this.end(lease, 'USED');
    }
  }

  private sizeFor({ shard }: LeaseHolder, account: string, bucket: LeasedBucket): number {
    const { buckets, limitsFactor, mostLeases = MOST_LEASES } = this.options;
    if (this.leases.size >= mostLeases) return 0;
    let ofHolder = 0;
    for (const { holder } of this.byBucket.get(leasedKey(account, bucket)) ?? []) {
      ofHolder += Number(holder.shard === shard);
    }
    if (ofHolder >= MOST_OF_ONE_HOLDER) return 0;
    const part = Math.floor(buckets.availableOf(account, bucket) / PART_OF_AVAILABLE);
    return part < LEAST_TOKENS ? 0 : Math.min(part, MOST_TOKENS * limitsFactor);
  }

  private note(lease: Lease, used: number): void {
    const more = Math.min(used, lease.size) - lease.used;
    if (more <= 0) return;
    lease.used += more;
    this.options.buckets.settle(lease.account, lease.bucket, more, 0);
  }

  private end(lease: Lease, how: 'GIVEN_BACK' | 'USED'): void {
    const { account, bucket, holder, number, size, used } = lease;
    this.leases.delete(idOf(holder, number));
    const key = leasedKey(account, bucket);
    const others = this.byBucket.get(key);
    others?.delete(lease);
    if (others?.size === 0) this.byBucket.delete(key);
    const rest = size - used;
    if (how === 'USED') this.options.buckets.settle(account, bucket, rest, 0);
    else this.options.buckets.settle(account, bucket, 0, rest);
  }
}

function lifeOf({ shard, life }: LeaseHolder): string {
  return `${shard}/${life}`;
}

function idOf(holder: LeaseHolder, number: number): string {
  return `${lifeOf(holder)}/${number}`;
}
