import { nanosFromInstant, type Instant } from '#libs/auction/instant.js';

/** The text of a bigint: nanoseconds are too many for a JS number. */
export type StoredInstant = string;

const LAST = 2n ** 63n - 1n;

/** As the tables hold it. What lies past the year 2262 counts as the last moment, for a caller's cursor may name it. */
export function storedInstant(instant: Instant): StoredInstant {
  const nanos = nanosFromInstant(instant);
  return String(nanos < LAST ? nanos : LAST);
}
