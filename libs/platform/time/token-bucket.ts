import { NANOS_PER_SECOND } from '#libs/base/instant.js';

/** Gains `tokens` every `perNanos` and never holds more than `burst`. All are integers, so two thirds a second is exact. */
export interface BucketRule {
  readonly tokens: bigint;
  readonly perNanos: bigint;
  readonly burst: bigint;
}

/**
 * `level` counts in parts of a token: `perNanos` of them make one, so that no moment's gain is ever rounded. `at` is a clock reading
 * in nanoseconds.
 */
export interface BucketState {
  readonly level: bigint;
  readonly at: bigint;
}

export interface BucketAnswer {
  readonly taken: boolean;
  readonly state: BucketState;
}

export function perSecond(tokens: number, burst: number): BucketRule {
  return { tokens: BigInt(tokens), perNanos: NANOS_PER_SECOND, burst: BigInt(burst) };
}

/** The same bucket, filling `divisor` times slower. */
export function slowed(rule: BucketRule, divisor: number): BucketRule {
  return { ...rule, perNanos: rule.perNanos * BigInt(divisor) };
}

export function fullBucket(rule: BucketRule, now: bigint): BucketState {
  return { level: rule.burst * rule.perNanos, at: now };
}

/** All of `count` or nothing; a refusal costs nothing. */
export function take(rule: BucketRule, state: BucketState, count: number, now: bigint): BucketAnswer {
  const refilled = refill(rule, state, now);
  const price = BigInt(count) * rule.perNanos;
  if (price > refilled.level) return { taken: false, state: refilled };
  return { taken: true, state: { level: refilled.level - price, at: refilled.at } };
}

/** Returns `count` taken tokens; never more than the bucket can hold. */
export function putBack(rule: BucketRule, state: BucketState, count: number, now: bigint): BucketState {
  const refilled = refill(rule, state, now);
  return { level: atMostFull(rule, refilled.level + BigInt(count) * rule.perNanos), at: refilled.at };
}

/** Whole tokens that a call at `now` could take. */
export function available(rule: BucketRule, state: BucketState, now: bigint): number {
  return Number(refill(rule, state, now).level / rule.perNanos);
}

/** A clock that goes back adds nothing, and nothing is added twice when it comes forward again. */
function refill(rule: BucketRule, state: BucketState, now: bigint): BucketState {
  if (now <= state.at) return state;
  return { level: atMostFull(rule, state.level + (now - state.at) * rule.tokens), at: now };
}

function atMostFull(rule: BucketRule, level: bigint): bigint {
  const full = rule.burst * rule.perNanos;
  return level > full ? full : level;
}
