/**
 * A moment as RFC 3339 UTC with exactly nine fraction digits, for instance `2026-11-20T12:00:00.123456789Z`. The width is
 * fixed, so instants compare as strings.
 */
export type Instant = string;

export const NANOS_PER_MICRO = 1_000n;
export const NANOS_PER_MILLI = 1_000_000n;
export const NANOS_PER_SECOND = 1_000_000_000n;
const MILLIS_FRACTION_AT = 19;

/** A number of seconds, for metrics and logs. */
export function secondsOf(nanos: bigint): number {
  return Number(nanos) / Number(NANOS_PER_SECOND);
}

export function instantFromNanos(epochNanos: bigint): Instant {
  const millis = epochNanos / NANOS_PER_MILLI;
  const fraction = (epochNanos % NANOS_PER_MILLI).toString().padStart(6, '0');
  return `${new Date(Number(millis)).toISOString().slice(0, 23)}${fraction}Z`;
}

export function nanosFromInstant(instant: Instant): bigint {
  const seconds = Date.parse(`${instant.slice(0, MILLIS_FRACTION_AT)}Z`);
  return BigInt(seconds) * NANOS_PER_MILLI + BigInt(instant.slice(MILLIS_FRACTION_AT + 1, -1));
}

export function plusMillis(instant: Instant, millis: number): Instant {
  return instantFromNanos(nanosFromInstant(instant) + BigInt(millis) * NANOS_PER_MILLI);
}

/** Whole milliseconds from `from` to `to`, rounded down; negative when `to` is earlier. */
export function millisBetween(from: Instant, to: Instant): number {
  const nanos = nanosFromInstant(to) - nanosFromInstant(from);
  const millis = nanos / NANOS_PER_MILLI;
  return Number(nanos % NANOS_PER_MILLI < 0n ? millis - 1n : millis);
}
