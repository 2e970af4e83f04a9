import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import type { Hold } from '../rules/terms.js';
import { beyond, larger } from './releases.js';

const hold: fc.Arbitrary<Hold> = fc.record({
  venue: fc.constantFrom('venue_a', 'venue_b'),
  resource: fc.constantFrom('COLLATERAL', 'OUTCOME_TOKEN'),
  asset: fc.constantFrom('', 'rain/YES'),
  amount: fc.integer({ min: 1, max: 100 }),
} as const);
/** Each resource at most once, as in every hold. */
const holds = fc.uniqueArray(hold, { selector: nameOf, maxLength: 8 });

function nameOf({ venue, resource, asset }: Hold): string {
  return `${venue} ${resource} ${asset}`;
}

function amounts(all: readonly Hold[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const one of all) sums.set(nameOf(one), (sums.get(nameOf(one)) ?? 0) + one.amount);
  return sums;
}

describe('the reservation while it is open which of two holds will apply', () => {
  it('is the larger amount of each resource', () => {
    fc.assert(
      fc.property(holds, holds, (left, right) => {
        const [ofLeft, ofRight, ofBoth] = [amounts(left), amounts(right), amounts(larger(left, right))];
        for (const name of new Set([...ofLeft.keys(), ...ofRight.keys()])) {
          expect(ofBoth.get(name)).toBe(Math.max(ofLeft.get(name) ?? 0, ofRight.get(name) ?? 0));
        }
      }),
    );
  });

  it('becomes either of them when the excess over it is released', () => {
    fc.assert(
      fc.property(holds, holds, (left, right) => {
        const both = larger(left, right);
        for (const one of [left, right]) {
          expect(amounts([...beyond(both, one), ...one])).toEqual(
            new Map([...amounts(both)].filter(([, amount]) => amount > 0)),
          );
        }
      }),
    );
  });
});

it('there is no excess over a larger hold', () => {
  const small: Hold = { venue: 'venue_a', resource: 'COLLATERAL', asset: '', amount: 1 };
  expect(beyond([small], [{ ...small, amount: 2 }])).toEqual([]);
  expect(beyond([{ ...small, amount: 5 }], [small, { ...small, amount: 2 }])).toEqual([
    { ...small, amount: 2 },
  ]);
});
