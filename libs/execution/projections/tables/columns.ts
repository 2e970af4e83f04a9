import { nanosFromInstant, NANOS_PER_MILLI, type Instant } from '#libs/base/instant.js';
import { BIGINT, binaryArray, TEXT } from '#libs/platform/database/binary-array.js';

/** Ids are sent as text too, and become what the column is in the statement. */
export function texts(values: readonly (string | undefined)[]): Buffer {
  return binaryArray(
    TEXT,
    values.map((value) => value ?? null),
  );
}

/** All whole numbers, whatever their columns hold. */
export function integers(values: readonly (number | bigint | undefined)[]): Buffer {
  return binaryArray(
    BIGINT,
    values.map((value) => value ?? null),
  );
}

/** As callers see it: what they are shown and what rows are ordered by must not differ. */
export function nanosOfMillis(instant: Instant): bigint {
  const nanos = nanosFromInstant(instant);
  return nanos - (nanos % NANOS_PER_MILLI);
}
