import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fromWire, toWire } from './wire.js';

const members = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.bigInt(),
    fc.jsonValue({ maxDepth: 1 }),
    fc.constantFrom('$n', '"$n"', null, '{"$n":"1"}'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(
      fc.oneof(fc.constantFrom('__proto__', 'constructor', 'n', '$n', '$o'), fc.string()),
      tie('value'),
      {
        maxKeys: 4,
      },
    ),
  ),
})).value;

/** Each value with its kind, so that different values never look alike. */
function described(value: unknown): unknown {
  if (typeof value === 'bigint') return ['number', value.toString()];
  if (Array.isArray(value)) return ['list', value.map(described)];
  if (typeof value !== 'object' || value === null) return ['value', JSON.stringify(value)];
  return ['object', Object.entries(value).map(([name, member]) => [name, described(member)])];
}

it('a value is decoded to exactly what was encoded, and encoding does not change the value', () => {
  fc.assert(
    fc.property(members, (value) => {
      const before = described(value);
      const text = toWire(value);
      expect(described(value)).toEqual(before);
      const read = fromWire(text);
      expect(described(read)).toEqual(before);
      expect(toWire(read)).toBe(text);
    }),
    { numRuns: 500 },
  );
});

it('objects of callers and venues are never taken for bigints, even if they look like encoded ones', () => {
  for (const value of [{ $n: 'seven' }, { $n: '7' }, { $o: { $n: '7' } }, [{ $o: [{ $n: '' }], also: 7n }]])
    expect(fromWire(toWire(value))).toEqual(value);
});
