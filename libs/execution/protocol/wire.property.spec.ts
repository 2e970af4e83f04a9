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
    fc.dictionary(fc.oneof(fc.constantFrom('__proto__', 'constructor', 'n'), fc.string()), tie('value'), {
      maxKeys: 4,
    }),
  ),
})).value;

function plain(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'bigint' ? { $n: member.toString() } : member,
  );
}

it('whatever is written comes back as it was, with every bigint, and nothing that was written is touched', () => {
  fc.assert(
    fc.property(members, (value) => {
      const text = toWire(value);
      expect(text).toBe(plain(value));
      const read = fromWire(text);
      expect(toWire(read)).toBe(text);
      expect(plain(read)).toBe(plain(value));
    }),
    { numRuns: 500 },
  );
});
