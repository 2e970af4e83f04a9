import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { AccountBuckets } from '../buckets.js';
import { leasedKey, type LeaseHolder, type LeaseReport, type LeaseWish } from '../token-messages.js';
import { LEASE_MILLIS } from './held-leases.js';

interface Lease<Bucket extends string> {
  readonly holder: LeaseHolder;
  readonly number: number;
  readonly account: string;
  readonly bucket: Bucket;
  readonly size: number;
  readonly overAt: bigint;
  used: number;
  isRecalled: boolean;
}

/** Leases of one account and bucket whose final use one holder is to report. */
export interface LeaseRecall {
  readonly holder: LeaseHolder;
  readonly numbers: readonly number[];
}

export interface LeaseLedgerOptions<Bucket extends string> {
  readonly clock: Clock;
  readonly buckets: Pick<AccountBuckets<Bucket>, 'available' | 'lease' | 'settle' | 'rules'>;
  readonly mostLeases?: number;
}

/** Small enough that enough tokens are left for everyone else. */
const PART_OF_AVAILABLE = 8;
/** More tokens would save few messages, and a holder that dies takes them with it. */
const MOST_TOKENS = 16;
/** A smaller lease would save no message. */
const LEAST_TOKENS = 2;
/** One in use, one requested ahead, and as many again whose end has not been reported yet. */
const MOST_OF_ONE_HOLDER = 4;
const MOST_LEASES = 50_000;
/**
 * When a lease without reports is over, counted from its grant. The holder counts from its request, which was earlier, and our
 * clocks drift apart by less than a tenth.
 */
const OVER_AFTER_MILLIS = LEASE_MILLIS + 1_000;

/**
 * What a home shard has leased out of its accounts' buckets, and what it knows of their use. Leased tokens have left the bucket.
 */
export class LeaseLedger<Bucket extends string> {
  /** In the order of their grants, so also in the order of their ends. */
  private readonly leases = new Map<string, Lease<Bucket>>();
  private readonly byBucket = new Map<string, Set<Lease<Bucket>>>();

  constructor(private readonly options: LeaseLedgerOptions<Bucket>) {}

  get size(): number {
    return this.leases.size;
  }

  /** Returns the size of the lease; 0 where a lease would save nothing. */
  grant(holder: LeaseHolder, { account, bucket, lease: number }: LeaseWish<Bucket>): number {
    const { buckets, clock } = this.options;
    const id = idOf(holder, number);
    const repeated = this.leases.get(id);
    if (repeated !== undefined) return repeated.size;
    const size = this.sizeFor(holder, account, bucket);
    if (size === 0 || !buckets.lease(account, bucket, size)) return 0;
    const overAt = clock.monotonicNanos() + BigInt(OVER_AFTER_MILLIS) * NANOS_PER_MILLI;
    const lease = { holder, number, account, bucket, size, overAt, used: 0, isRecalled: false };
    this.leases.set(id, lease);
    const key = leasedKey(account, bucket);
    const others = this.byBucket.get(key);
    if (others === undefined) this.byBucket.set(key, new Set([lease]));
    else others.add(lease);
    return size;
  }

  /** Counts are from the beginning of a lease, so a repeated or late report changes nothing. */
  report(holder: LeaseHolder, reports: readonly LeaseReport[]): void {
    for (const [number, used, done] of reports) {
      const lease = this.leases.get(idOf(holder, number));
      if (lease === undefined) continue;
      this.note(lease, used);
      if (done) this.end(lease, 'GIVEN_BACK');
    }
  }

  /** Whether leased tokens have not been recalled yet. As long as that is so, no caller may be refused. */
  isLeased(account: string, bucket: Bucket): boolean {
    for (const lease of this.byBucket.get(leasedKey(account, bucket)) ?? [])
      if (!lease.isRecalled) return true;
    return false;
  }

  /**
   * Returns the leases to recall now, grouped by holder. Each lease is recalled once, because its holder also reports its end by
   * itself.
   */
  recall(account: string, bucket: Bucket): LeaseRecall[] {
    const calls = new Map<string, { holder: LeaseHolder; numbers: number[] }>();
    for (const lease of this.byBucket.get(leasedKey(account, bucket)) ?? []) {
      if (lease.isRecalled) continue;
      lease.isRecalled = true;
      const { holder, number } = lease;
      const call = calls.get(epochOf(holder));
      if (call === undefined) calls.set(epochOf(holder), { holder, numbers: [number] });
      else call.numbers.push(number);
    }
    return [...calls.values()];
  }

  /** A holder that does not know a lease has restarted, so all of the lease counts as used. */
  recalled({ holder, numbers }: LeaseRecall, used: readonly (number | null)[]): void {
    for (const [index, number] of numbers.entries()) {
      const lease = this.leases.get(idOf(holder, number));
      const count = used[index];
      if (lease === undefined || count === undefined) continue;
      if (count !== null) this.note(lease, count);
      this.end(lease, count === null ? 'USED' : 'GIVEN_BACK');
    }
  }

  /** A lease whose end was not reported in time counts as used up. */
  expire(): void {
    const now = this.options.clock.monotonicNanos();
    for (const lease of this.leases.values()) {
      if (lease.overAt > now) return;
      this.end(lease, 'USED');
    }
  }

  private sizeFor({ shard }: LeaseHolder, account: string, bucket: Bucket): number {
    const { buckets, mostLeases = MOST_LEASES } = this.options;
    if (this.leases.size >= mostLeases) return 0;
    let ofHolder = 0;
    for (const { holder } of this.byBucket.get(leasedKey(account, bucket)) ?? []) {
      ofHolder += Number(holder.shard === shard);
    }
    if (ofHolder >= MOST_OF_ONE_HOLDER) return 0;
    const part = Math.floor(buckets.available(account, bucket) / PART_OF_AVAILABLE);
    return part < LEAST_TOKENS ? 0 : Math.min(part, MOST_TOKENS * buckets.rules.factor);
  }

  private note(lease: Lease<Bucket>, used: number): void {
    const more = Math.min(used, lease.size) - lease.used;
    if (more <= 0) return;
    lease.used += more;
    this.options.buckets.settle(lease.account, lease.bucket, more, 0);
  }

  private end(lease: Lease<Bucket>, how: 'GIVEN_BACK' | 'USED'): void {
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

function epochOf({ shard, epoch }: LeaseHolder): string {
  return `${shard}/${epoch}`;
}

function idOf(holder: LeaseHolder, number: number): string {
  return `${epochOf(holder)}/${number}`;
}
