import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { instantFromNanos, millisBetween, nanosFromInstant, plusMillis } from './instant.js';

const nanos = fc.bigInt({ min: 0n, max: 4_102_444_800_000_000_000n });

it('an instant has nanoseconds and a fixed width, so instants compare as strings', () => {
  expect(instantFromNanos(1_795_176_000_123_456_789n)).toBe('2026-11-20T12:00:00.123456789Z');
  fc.assert(
    fc.property(nanos, nanos, (one, other) => {
      const [a, b] = [instantFromNanos(one), instantFromNanos(other)];
      expect(a).toHaveLength(30);
      expect(nanosFromInstant(a)).toBe(one);
      expect(a < b).toBe(one < other);
    }),
  );
});

it('adding milliseconds keeps the nanoseconds below them', () => {
  expect(plusMillis('2026-12-31T23:59:59.999999999Z', 1)).toBe('2027-01-01T00:00:00.000999999Z');
});

it.each([
  ['00.000000000', '00.001999999', 1],
  ['00.001000001', '00.000000000', -2],
  ['00.001000000', '00.000000000', -1],
])('from %s to %s it is %d ms', (from, to, millis) => {
  expect(millisBetween(`2026-11-20T12:00:${from}Z`, `2026-11-20T12:00:${to}Z`)).toBe(millis);
});
