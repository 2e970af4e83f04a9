import { nanosFromInstant, type Instant } from '#libs/base/instant.js';
import { BIGINT, binaryArray, BYTEA, TEXT } from '#libs/platform/database/binary-array.js';

/** Ids are sent as text too, and become what the column is in the statement. */
export function texts(values: readonly (string | null)[]): Buffer {
  return binaryArray(TEXT, values);
}

/** All whole numbers, whatever their columns hold. */
export function integers(values: readonly number[]): Buffer {
  return binaryArray(BIGINT, values);
}

export function instants(values: readonly (Instant | undefined)[]): Buffer {
  return binaryArray(
    BIGINT,
    values.map((instant) => (instant === undefined ? null : nanosFromInstant(instant))),
  );
}

export function hashes(values: readonly string[]): Buffer {
  return binaryArray(BYTEA, values);
}
