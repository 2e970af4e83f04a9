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

/** A second, independent implementation of the rules. */
function enough(required: string): readonly string[] {
  if (required === 'read') return ['read', 'trade:read', 'position:read', '*'];
  return required === 'trade' ? ['trade', 'trade:execute', '*'] : [required, '*'];
}

describe('a requirement', () => {
  it('is satisfied only by its listed scopes and by the wildcard', () => {
    fc.assert(
      fc.property(granted, scope, (scopes, required) => {
        expect(satisfies(scopes, required)).toBe(scopes.some((one) => enough(required).includes(one)));
      }),
    );
  });

  it('of any kind is satisfied by the wildcard', () => {
    fc.assert(fc.property(granted, scope, (scopes, required) => satisfies([...scopes, '*'], required)));
  });

  it('is not satisfied by a similar text', () => {
    fc.assert(
      fc.property(fc.constantFrom(...KNOWN), (required) => {
        const similar = [required.toUpperCase(), `${required} `, `${required}:x`, required.slice(0, -1), ''];
        expect(
          satisfies(
            similar.filter((one) => one !== required && !enough(required).includes(one)),
            required,
          ),
        ).toBe(false);
      }),
    );
  });

  it('of trading is satisfied by a preset only if the preset lists it', () => {
    expect(satisfies(PRESETS.readonly, 'trade:execute')).toBe(false);
    expect(satisfies(PRESETS.readonly, 'trade')).toBe(false);
    expect(satisfies(PRESETS.trading, 'trade')).toBe(true);
    for (const required of KNOWN.slice(0, 5)) expect(satisfies(SESSION_SCOPES, required)).toBe(true);
  });
});

it('scopes of auctions and scopes that are not plain text cannot be granted', () => {
  expect(KNOWN.filter(isGrantable)).toEqual(KNOWN.slice(0, 5));
  expect(['*', 'a b', '', 'é', 'x'.repeat(65)].filter(isGrantable)).toEqual(['*']);
});
