import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compareMoments, comparePlaces, compareTexts, type EventPlace } from './order.js';

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 4 }),
  fc.string({ unit: fc.constantFrom('a', 'b', '\ud7ff', '\ue000', '\uffff', '\u{10000}'), maxLength: 4 }),
);
const anyPlace: fc.Arbitrary<EventPlace> = fc.record({
  source_ts: fc.constantFrom(0, 1, 1_795_176_000_000_000),
  seq: fc.constantFrom(0n, 1n, 9n, 2n ** 63n - 1n),
  source_id: anyText,
});

/** One text for the whole position, with fixed widths except at the end, that compares by bytes. */
function key({ source_ts, seq, source_id }: EventPlace): Buffer {
  return Buffer.from(`${String(source_ts).padStart(20, '0')} ${String(seq).padStart(20, '0')} ${source_id}`);
}

it('texts compare by bytes, as in a column with collation "C"', () => {
  fc.assert(
    fc.property(anyText, anyText, (left, right) => {
      expect(Math.sign(compareTexts(left, right))).toBe(
        Buffer.compare(Buffer.from(left), Buffer.from(right)),
      );
    }),
    { numRuns: 1_000 },
  );
});

it('positions compare by time, then number, then id', () => {
  fc.assert(
    fc.property(anyPlace, anyPlace, (left, right) => {
      expect(Math.sign(comparePlaces(left, right))).toBe(Buffer.compare(key(left), key(right)));
      const unnumbered = [left, right].map((place) => key({ ...place, seq: 0n }));
      expect(Math.sign(compareMoments(left, right))).toBe(Buffer.compare(unnumbered[0]!, unnumbered[1]!));
    }),
    { numRuns: 1_000 },
  );
});
