import {
  NANOS_PER_MILLI,
  NANOS_PER_SECOND,
  instantFromNanos,
  nanosFromInstant,
  type Instant,
} from '#libs/base/instant.js';

/** A round of auctions that are opened one after another, then closed, then settled, before the next round begins. */
export interface SeedRound {
  /** Numbers of its auctions, `end` left out. */
  readonly from: number;
  readonly end: number;
  readonly opensAt: bigint;
}

export interface Calendar {
  readonly rounds: readonly SeedRound[];
  readonly durationMs: number;
  /** Between two auctions of a round. */
  readonly stepNanos: bigint;
}

const LONGEST = 30n * 86_400n * NANOS_PER_SECOND;
const ROUND = 1_500;
const MIN_DURATION_MS = 1_000;
const MAX_DURATION_MS = 60_000;
/** A round is opened in one part of its time, its auctions last for another, and two are left for what comes behind the close. */
const PARTS = 4n;
/** Less than this is not worth beginning with: the shortest auction lasts a second. */
const SHORTEST_ROUND = BigInt(MIN_DURATION_MS) * NANOS_PER_MILLI * PARTS;

/**
 * Past times for so many auctions, behind everything that the journals tell of and not past `now`. Half of the time that there is
 * is left for a later seed. Undefined while too little time has passed.
 */
export function calendarOf(total: number, latest: Instant | undefined, now: bigint): Calendar | undefined {
  const earliest = now - LONGEST;
  const last = latest === undefined ? earliest : nanosFromInstant(latest);
  const begin = last > earliest ? last + 1n : earliest;
  const time = begin === earliest ? now - begin : (now - begin) / 2n;
  const most = time / SHORTEST_ROUND;
  if (most < 1n) return undefined;
  const count = Math.max(1, Math.min(Math.ceil(total / ROUND), Number(most)));
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
