import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JournalEntry } from '../journal.js';
import { decodeRecord, encodeRecord, type LogRecord } from './record-format.js';

const NUMBER = '0|[1-9]\\d{0,15}';
/** The format of a record as one regular expression. */
const SHAPE = new RegExp(`^1 (${NUMBER}) (${NUMBER}) ([a-z]+) (${NUMBER}|-) (${NUMBER}|-) ([0-9a-f]{64})$`);

/** Decodes by the regular expression, as a slow reference. */
function decodedByShape(value: Buffer): LogRecord | undefined {
  const end = value.indexOf('\n');
  const fields = end < 0 ? null : SHAPE.exec(value.toString('latin1', 0, end));
  if (fields === null) return undefined;
  const [, epoch, sequence, kind = '', offset, first, hash = ''] = fields;
  const anchor =
    offset === '-' || first === '-' ? undefined : { offset: Number(offset), sequence: Number(first) };
  const payload = value.subarray(end + 1);
  return { epoch: Number(epoch), sequence: Number(sequence), kind, hash, payload, anchor, seal: undefined };
}

const count = fc.oneof(fc.nat(12), fc.maxSafeNat());
const entry: fc.Arbitrary<JournalEntry> = fc.record({
  shard: fc.constant(0),
  epoch: count,
  sequence: count,
  kind: fc.constantFrom('event' as const, 'epoch' as const),
  payload: fc.string({ unit: 'grapheme' }),
  previousHash: fc.constant(''),
  hash: fc.stringMatching(/^[0-9a-f]{64}$/),
});
const anchor = fc.option(fc.record({ offset: count, sequence: count }), { nil: undefined });
/** Random changes of a record's line. */
const damage = fc.record({
  at: fc.nat(110),
  cut: fc.nat(2),
  put: fc.stringMatching(/^[0-9a-z -]{0,3}\n?$/),
});

describe('a record in its topic', () => {
  it('comes back as it was written', () => {
    fc.assert(
      fc.property(entry, anchor, (written, where) => {
        const { epoch, sequence, kind, payload, hash } = written;
        const found = decodeRecord(encodeRecord(written, where));
        expect(found).toEqual({ epoch, sequence, kind, payload: Buffer.from(payload), hash, anchor: where });
      }),
    );
  });

  it('is refused exactly if its line has another shape', () => {
    fc.assert(
      fc.property(entry, anchor, fc.array(damage, { maxLength: 2 }), (written, where, damages) => {
        let text = encodeRecord(written, where).toString('latin1');
        for (const { at, cut, put } of damages) text = text.slice(0, at) + put + text.slice(at + cut);
        const value = Buffer.from(text, 'latin1');
        expect(decodeRecord(value)).toEqual(decodedByShape(value));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(['', '1', '1 ', '2 1 1 event - - ', '1 01 1 event - - ', `1 1 1 event - - ${'a'.repeat(63)}\n`])(
    'is not valid as "%s"',
    (text) => {
      expect(decodeRecord(Buffer.from(text))).toBeUndefined();
    },
  );
});
