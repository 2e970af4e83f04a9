import { nanosFromInstant, NANOS_PER_MILLI, type Instant } from '#libs/base/instant.js';
import { BIGINT, binaryArray, TEXT } from '#libs/platform/database/binary-array.js';

/** Ids are sent as text too. The statement casts them to the column's type. */
export function texts(values: readonly (string | undefined)[]): Buffer {
  return binaryArray(
    TEXT,
    values.map((value) => value ?? null),
  );
}

/** Any integers. The statement casts them to the column's type. */
export function integers(values: readonly (number | bigint | undefined)[]): Buffer {
  return binaryArray(
    BIGINT,
    values.map((value) => value ?? null),
  );
}

/** Cut to milliseconds as callers see it, so that the sort order matches what is shown. */
export function nanosOfMillis(instant: Instant): bigint {
  const nanos = nanosFromInstant(instant);
  return nanos - (nanos % NANOS_PER_MILLI);
}
