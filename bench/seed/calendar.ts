import {
  NANOS_PER_MILLI,
  NANOS_PER_SECOND,
  instantFromNanos,
  nanosFromInstant,
  type Instant,
} from '#libs/base/instant.js';

/** Auctions that are opened one after another, then closed and settled, before the next round begins. */
export interface SeedRound {
  /** Numbers of its auctions, without `end`. */
  readonly from: number;
  readonly end: number;
  readonly opensAt: bigint;
}

export interface Calendar {
  readonly rounds: readonly SeedRound[];
  readonly durationMs: number;
  /** Time between two auctions of a round. */
  readonly stepNanos: bigint;
}

const LONGEST = 30n * 86_400n * NANOS_PER_SECOND;
const ROUND = 1_500;
const MIN_DURATION_MS = 1_000;
const MAX_DURATION_MS = 60_000;
/**
 * Quarters of a round: auctions open in the first and last for one more. Two are left for what follows the
 * close.
 */
const PARTS = 4n;
/** A shorter round is impossible: the shortest auction lasts a second. */
const SHORTEST_ROUND = BigInt(MIN_DURATION_MS) * NANOS_PER_MILLI * PARTS;

/**
 * Past times for these auctions, after everything in the journals and before `now`. Leaves half of the free
 * time to a later seed. Undefined if too little time has passed.
 */
export function calendarOf(total: number, latest: Instant | undefined, now: bigint): Calendar | undefined {
  const earliest = now - LONGEST;
  const last = latest === undefined ? earliest : nanosFromInstant(latest);
  const begin = last > earliest ? last + 1n : earliest;
  const time = begin === earliest ? now - begin : (now - begin) / 2n;
  const maxRounds = time / SHORTEST_ROUND;
  if (maxRounds < 1n) return undefined;
  const count = Math.max(1, Math.min(Math.ceil(total / ROUND), Number(maxRounds)));
  const size = Math.ceil(total / count);
  const each = time / BigInt(count);
  const part = each / PARTS;
  const durationMs = Math.max(MIN_DURATION_MS, Math.min(MAX_DURATION_MS, Number(part / NANOS_PER_MILLI)));
  const opening = part < NANOS_PER_SECOND ? part : NANOS_PER_SECOND;
  return {
    rounds: Array.from({ length: count }, (_, index) => ({
      from: index * size,
      end: Math.min(total, (index + 1) * size),
      opensAt: begin + BigInt(index) * each,
    })),
    durationMs,
    stepNanos: opening / BigInt(size),
  };
}

export function openedAt({ stepNanos }: Calendar, { from, opensAt }: SeedRound, number: number): Instant {
  return instantFromNanos(opensAt + BigInt(number - from) * stepNanos);
}
