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
import type { BucketName } from '#libs/auction/protocol/protocol.js';

export interface BucketLimit {
  readonly rate_per_second: number;
  readonly burst: number;
}

export const ACCOUNT_LIMITS: Readonly<Record<BucketName, BucketLimit>> = {
  create: { rate_per_second: 2, burst: 4 },
  cancel: { rate_per_second: 5, burst: 10 },
  quote: { rate_per_second: 50, burst: 100 },
  withdraw: { rate_per_second: 100, burst: 500 },
};
export const QUOTE_PER_AUCTION_LIMIT: BucketLimit = { rate_per_second: 10, burst: 20 };
/** Three shards metering alone, each at a third, give no more than one that meters for all. */
const ALONE_DIVISOR = 3;
const SWEEP_EVERY = 10_000;

export function ruleOf(limit: BucketLimit, factor: number): BucketRule {
  return perSecond(limit.rate_per_second * factor, limit.burst * factor);
}

/** Buckets of one kind by whom they belong to. A bucket that has filled up again is as good as none and is forgotten. */
class Buckets {
  private readonly states = new Map<string, BucketState>();
  /** Tokens that have left a bucket without being known to be used. */
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

  /** Takes `count` out for somebody who may use them later, or not. */
  lease(owner: string, count: number): boolean {
    const taken = this.takeAt(owner, count, this.clock.monotonicNanos());
    if (taken) this.leased.set(owner, (this.leased.get(owner) ?? 0) + count);
    return taken;
  }

  /** Of what was leased so much was used, and so much comes back. */
  settle(owner: string, used: number, unused: number): void {
    const now = this.clock.monotonicNanos();
    // What time has brought until now was bounded by what was still out.
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

  /** A bucket fills up to its burst without what is out: else more than the burst could be taken at once. */
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

/** The account buckets of which this owner is the authority, or while it meters alone. */
export class AccountBuckets {
  private readonly buckets: Readonly<Record<BucketName, Buckets>>;

  constructor(clock: Clock, factor: number, alone = false) {
    const made = (name: BucketName): Buckets => {
      const rule = ruleOf(ACCOUNT_LIMITS[name], factor);
      return new Buckets(clock, alone ? slowed(rule, ALONE_DIVISOR) : rule);
    };
    this.buckets = {
      create: made('create'),
      cancel: made('cancel'),
      quote: made('quote'),
      withdraw: made('withdraw'),
    };
  }

  take(account: string, bucket: BucketName): boolean {
    return this.buckets[bucket].take(account);
  }

  lease(account: string, bucket: BucketName, count: number): boolean {
    return this.buckets[bucket].lease(account, count);
  }

  settle(account: string, bucket: BucketName, used: number, unused: number): void {
    this.buckets[bucket].settle(account, used, unused);
  }

  availableOf(account: string, bucket: BucketName): number {
    return this.buckets[bucket].available(account);
  }

  available(account: string): Record<BucketName, number> {
    const { create, cancel, quote, withdraw } = this.buckets;
    return {
      create: create.available(account),
      cancel: cancel.available(account),
      quote: quote.available(account),
      withdraw: withdraw.available(account),
    };
  }
}

/** Submits and revisions by account and auction; an auction has one owner, so nobody else is asked. */
export class QuoteMeter {
  private readonly buckets: Buckets;

  constructor(clock: Clock, factor: number) {
    this.buckets = new Buckets(clock, ruleOf(QUOTE_PER_AUCTION_LIMIT, factor));
  }

  has(account: string, auctionId: string): boolean {
    return this.buckets.available(`${account}/${auctionId}`) >= 1;
  }

  take(account: string, auctionId: string): boolean {
    return this.buckets.take(`${account}/${auctionId}`);
  }
}
