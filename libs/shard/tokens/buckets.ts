import {
  available,
  fullBucket,
  perSecond,
  putBack,
  slowed,
  take,
  type BucketRule,
  type BucketState,
} from '#libs/platform/time/token-bucket.js';
import type { Clock } from '#libs/platform/time/clock.js';

export interface BucketLimit {
  readonly rate_per_second: number;
  readonly burst: number;
}

const SWEEP_EVERY = 10_000;

export interface BucketRules<Bucket extends string> {
  readonly names: readonly Bucket[];
  readonly limits: Readonly<Record<Bucket, BucketLimit>>;
  /** Buckets that are used so often that other shards lease tokens from them in advance. */
  readonly leased: readonly Bucket[];
  /** Multiplies every limit. */
  readonly factor: number;
}

export function ruleOf(limit: BucketLimit, factor: number): BucketRule {
  return perSecond(limit.rate_per_second * factor, limit.burst * factor);
}

/** Buckets of one kind by their owners. A full bucket is the same as none and is forgotten. */
export class KeyedBuckets {
  private readonly states = new Map<string, BucketState>();
  /** Tokens that were leased from a bucket and may not have been used. */
  private readonly leased = new Map<string, number>();
  private takes = 0;

  constructor(
    private readonly clock: Clock,
    private readonly rule: BucketRule,
  ) {}

  take(owner: string): boolean {
    const now = this.clock.monotonicNanos();
    const taken = this.takeAt(owner, 1, now);
    this.takes += 1;
    if (this.takes % SWEEP_EVERY === 0) this.sweep(now);
    return taken;
  }

  available(owner: string): number {
    const now = this.clock.monotonicNanos();
    return available(this.ruleFor(owner), this.stateOf(owner, now), now);
  }

  /** Takes out `count` tokens for a holder that may use them later or return them. */
  lease(owner: string, count: number): boolean {
    const taken = this.takeAt(owner, count, this.clock.monotonicNanos());
    if (taken) this.leased.set(owner, (this.leased.get(owner) ?? 0) + count);
    return taken;
  }

  /** Settles leased tokens: `used` were used and `unused` come back. */
  settle(owner: string, used: number, unused: number): void {
    const now = this.clock.monotonicNanos();
    // Refilled first, while the leased tokens still bound the burst.
    const { state } = take(this.ruleFor(owner), this.stateOf(owner, now), 0, now);
    const left = (this.leased.get(owner) ?? 0) - used - unused;
    if (left > 0) this.leased.set(owner, left);
    else this.leased.delete(owner);
    this.states.set(owner, putBack(this.ruleFor(owner), state, unused, now));
  }

  private takeAt(owner: string, count: number, now: bigint): boolean {
    const answer = take(this.ruleFor(owner), this.stateOf(owner, now), count, now);
    this.states.set(owner, answer.state);
    return answer.taken;
  }

  /** A bucket fills up to its burst less the leased tokens; otherwise more than the burst could be taken at once. */
  private ruleFor(owner: string): BucketRule {
    const leased = this.leased.get(owner);
    return leased === undefined ? this.rule : { ...this.rule, burst: this.rule.burst - BigInt(leased) };
  }

  private stateOf(owner: string, now: bigint): BucketState {
    return this.states.get(owner) ?? fullBucket(this.rule, now);
  }

  private sweep(now: bigint): void {
    const full = Number(this.rule.burst);
    for (const [owner, state] of this.states) {
      if (!this.leased.has(owner) && available(this.rule, state, now) >= full) this.states.delete(owner);
    }
  }
}

/** The buckets of accounts, one of each kind. */
export class AccountBuckets<Bucket extends string> {
  private readonly kinds = new Map<Bucket, KeyedBuckets>();

  constructor(
    private readonly clock: Clock,
    readonly rules: BucketRules<Bucket>,
    /** How many times slower the buckets fill, for shards that meter alone at the same time. */
    private readonly divisor = 1,
  ) {}

  take(account: string, bucket: Bucket): boolean {
    return this.of(bucket).take(account);
  }

  lease(account: string, bucket: Bucket, count: number): boolean {
    return this.of(bucket).lease(account, count);
  }

  settle(account: string, bucket: Bucket, used: number, unused: number): void {
    this.of(bucket).settle(account, used, unused);
  }

  /** The number of whole tokens. */
  available(account: string, bucket: Bucket): number {
    return this.of(bucket).available(account);
  }

  private of(bucket: Bucket): KeyedBuckets {
    const known = this.kinds.get(bucket);
    if (known !== undefined) return known;
    const { limits, factor } = this.rules;
    const made = new KeyedBuckets(this.clock, slowed(ruleOf(limits[bucket], factor), this.divisor));
    this.kinds.set(bucket, made);
    return made;
  }
}
