import { MICROS_PER_SECOND } from '../../rules/times.js';

/** Microseconds, `from <= received_at < until`. */
export interface WorldSpan {
  readonly from: number;
  readonly until: number;
}

/** Rounds both ends outwards to whole seconds. */
export function secondsOf({ from, until }: WorldSpan): readonly [from: number, until: number] {
  return [Math.floor(from / MICROS_PER_SECOND), Math.ceil(until / MICROS_PER_SECOND)];
}

export function isWithin(at: number, { from, until }: WorldSpan): boolean {
  return from <= at && at < until;
}
