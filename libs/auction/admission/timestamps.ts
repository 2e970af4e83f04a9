import type { Instant } from '#libs/base/instant.js';

const SHAPE = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?$/;

/** SQL that returns a timestamptz column as text in UTC, in any session time zone. */
export function utcText(column: string): string {
  return `(${column} at time zone 'UTC')::text`;
}

/** Undefined for values that are no finite time, such as `infinity`. */
export function instantOfUtcText(text: string): Instant | undefined {
  const [, date, time, fraction = ''] = SHAPE.exec(text) ?? [];
  return date === undefined || time === undefined ? undefined : `${date}T${time}.${fraction.padEnd(9, '0')}Z`;
}

export function requiredInstant(text: string): Instant {
  const instant = instantOfUtcText(text);
  if (instant === undefined) throw new RangeError(`${text} is not a time`);
  return instant;
}
