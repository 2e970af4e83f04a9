import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isGrantable, PRESETS, satisfies, SESSION_SCOPES } from './scopes.js';

const KNOWN = [
  'trade:execute',
  'trade:read',
  'position:read',
  'read',
  'trade',
  'auction:create',
  'auction:quote',
];
const scope = fc.oneof(fc.constantFrom(...KNOWN, 'constructor', '__proto__', ''), fc.string());
const granted = fc.array(fc.constantFrom(...KNOWN));

/** What the rules list, written out once more. */
function enough(required: string): readonly string[] {
  if (required === 'read') return ['read', 'trade:read', 'position:read', '*'];
  return required === 'trade' ? ['trade', 'trade:execute', '*'] : [required, '*'];
}

describe('a requirement', () => {
  it('is met by what is listed for it, by the wildcard, and by nothing else', () => {
    fc.assert(
      fc.property(granted, scope, (given, required) => {
        expect(satisfies(given, required)).toBe(given.some((one) => enough(required).includes(one)));
      }),
    );
  });

  it('of any kind is met by the wildcard', () => {
    fc.assert(fc.property(granted, scope, (given, required) => satisfies([...given, '*'], required)));
  });

  it('is not met by a text that only looks like it', () => {
    fc.assert(
      fc.property(fc.constantFrom(...KNOWN), (required) => {
        const near = [required.toUpperCase(), `${required} `, `${required}:x`, required.slice(0, -1), ''];
        expect(
          satisfies(
            near.filter((one) => one !== required && !enough(required).includes(one)),
            required,
          ),
        ).toBe(false);
      }),
    );
  });

  it('of trading is met by a preset only where it says so', () => {
    expect(satisfies(PRESETS.readonly, 'trade:execute')).toBe(false);
    expect(satisfies(PRESETS.readonly, 'trade')).toBe(false);
    expect(satisfies(PRESETS.trading, 'trade')).toBe(true);
    for (const asked of KNOWN.slice(0, 5)) expect(satisfies(SESSION_SCOPES, asked)).toBe(true);
  });
});

it('nothing of auctions can be granted, and nothing that has no plain text', () => {
  expect(KNOWN.filter(isGrantable)).toEqual(KNOWN.slice(0, 5));
  expect(['*', 'a b', '', 'é', 'x'.repeat(65)].filter(isGrantable)).toEqual(['*']);
});
