import { nanosFromInstant, type Instant } from '#libs/base/instant.js';

/** The text of a bigint: nanoseconds are too many for a number. */
export type StoredInstant = string;

const LAST = 2n ** 63n - 1n;

/** As the tables hold it. A caller's cursor may name any year: what they cannot hold counts as the nearest that they can. */
export function storedInstant(instant: Instant): StoredInstant {
  const nanos = nanosFromInstant(instant);
  if (nanos > LAST) return String(LAST);
  return String(nanos < -LAST ? -LAST : nanos);
}
