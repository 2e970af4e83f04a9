import { ceilTo, floorTo, MICROS_PER_SECOND } from './times.js';

/** From `start` (inclusive) to `end` (exclusive), in microseconds; empty if they are equal. */
export interface WindowPart {
  readonly start: number;
  readonly end: number;
}

/** A window split into the largest pieces that have stored sums, without gap or overlap. */
export interface WindowParts {
  readonly hours: WindowPart;
  /** Whole minutes before and after the hours. */
  readonly minutes: readonly [WindowPart, WindowPart];
  /** The edges that no whole minute covers. */
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

/** The whole window as single trades, for markets without stored sums by outcome. */
export function looseParts(window: WindowPart): WindowParts {
  const none = { start: window.end, end: window.end };
  return { hours: none, minutes: [none, none], rest: [window, none] };
}

/** The whole units in a span; if there are none, an empty part at its end. */
function within({ start, end }: WindowPart, unit: number): WindowPart {
  const whole = { start: ceilTo(start, unit), end: floorTo(end, unit) };
  return whole.start < whole.end ? whole : { start: end, end };
}
