import { NANOS_PER_SECOND } from '#libs/base/instant.js';

/** A bucket gains `tokens` every `perNanos` and holds at most `burst`. Integers, so that two thirds a second is exact. */
export interface BucketRule {
  readonly tokens: bigint;
  readonly perNanos: bigint;
  readonly burst: bigint;
}

/**
 * `level` counts fractions of a token: one token is `perNanos` of them, so that no refill is rounded. `at` is a clock reading in
 * nanoseconds.
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

/** The same rule with a refill that is `divisor` times slower. */
export function slowed(rule: BucketRule, divisor: number): BucketRule {
  return { ...rule, perNanos: rule.perNanos * BigInt(divisor) };
}

export function fullBucket(rule: BucketRule, now: bigint): BucketState {
  return { level: rule.burst * rule.perNanos, at: now };
}

/** Takes `count` tokens or none. A refusal costs nothing. */
export function take(rule: BucketRule, state: BucketState, count: number, now: bigint): BucketAnswer {
  const refilled = refill(rule, state, now);
  const price = BigInt(count) * rule.perNanos;
  if (price > refilled.level) return { taken: false, state: refilled };
  return { taken: true, state: { level: refilled.level - price, at: refilled.at } };
}

/** Puts back `count` tokens that were taken, up to the size of the bucket. */
export function putBack(rule: BucketRule, state: BucketState, count: number, now: bigint): BucketState {
  const refilled = refill(rule, state, now);
  return { level: atMostFull(rule, refilled.level + BigInt(count) * rule.perNanos), at: refilled.at };
}

/** The number of whole tokens that a call at `now` could take. */
export function available(rule: BucketRule, state: BucketState, now: bigint): number {
  return Number(refill(rule, state, now).level / rule.perNanos);
}

/** If the clock goes back, no tokens are added, and none are added twice when it goes forward again. */
function refill(rule: BucketRule, state: BucketState, now: bigint): BucketState {
  if (now <= state.at) return state;
  return { level: atMostFull(rule, state.level + (now - state.at) * rule.tokens), at: now };
}

function atMostFull(rule: BucketRule, level: bigint): bigint {
  const full = rule.burst * rule.perNanos;
  return level > full ? full : level;
}
