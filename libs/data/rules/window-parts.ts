import { ceilTo, floorTo, MICROS_PER_SECOND } from './times.js';

/** From `start` on and before `end`, in microseconds; empty where they are equal. */
export interface WindowPart {
  readonly start: number;
  readonly end: number;
}

/** A window in the largest pieces of which sums are kept, without gap or overlap. */
export interface WindowParts {
  readonly hours: WindowPart;
  /** Whole minutes before and after the hours. */
  readonly minutes: readonly [WindowPart, WindowPart];
  /** What no whole minute covers. */
  readonly rest: readonly [WindowPart, WindowPart];
}

const MINUTE = 60 * MICROS_PER_SECOND;
const HOUR = 60 * MINUTE;

/** The window (now - seconds, now]. */
export function windowUpTo(now: number, seconds: number): WindowPart {
  return { start: now - seconds * MICROS_PER_SECOND + 1, end: now + 1 };
}

export function partsOf({ start, end }: WindowPart): WindowParts {
  const minutes = within({ start, end }, MINUTE);
  const hours = within(minutes, HOUR);
  return {
    hours,
    minutes: [
      { start: minutes.start, end: hours.start },
      { start: hours.end, end: minutes.end },
    ],
    rest: [
      { start, end: minutes.start },
      { start: minutes.end, end },
    ],
  };
}

/** All of it as loose trades, where sums are not kept by outcome. */
export function looseParts(window: WindowPart): WindowParts {
  const none = { start: window.end, end: window.end };
  return { hours: none, minutes: [none, none], rest: [window, none] };
}

/** The whole multiples in a span; without any, nothing at its end. */
function within({ start, end }: WindowPart, unit: number): WindowPart {
  const whole = { start: ceilTo(start, unit), end: floorTo(end, unit) };
  return whole.start < whole.end ? whole : { start: end, end };
}
