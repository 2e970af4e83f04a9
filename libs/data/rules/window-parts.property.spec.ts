import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { looseParts, partsOf, windowUpTo, type WindowPart, type WindowParts } from './window-parts.js';

const HOUR = 3_600_000_000;
const MINUTE = 60_000_000;

const spans = fc
  .tuple(fc.integer({ min: -2 * HOUR, max: 2 * HOUR }), fc.integer({ min: 1, max: 5 * HOUR }))
  .map(([start, length]): WindowPart => ({ start, end: start + length }));
const inOrder = ({ hours, minutes: [before, after], rest: [first, last] }: WindowParts): WindowPart[] =>
  [first, before, hours, after, last].filter(({ start, end }) => start !== end);

describe('parts of a window', () => {
  it('cover the window without gap or overlap', () => {
    fc.assert(
      fc.property(spans, fc.boolean(), (window, isLoose) => {
        const parts = inOrder(isLoose ? looseParts(window) : partsOf(window));
        const edges = parts.flatMap(({ start, end }) => [start, end]);
        expect([edges[0], edges.at(-1)]).toEqual([window.start, window.end]);
        expect(edges).toEqual([...edges].sort((one, other) => one - other));
        for (const [index, { start }] of parts.entries()) {
          if (index > 0) expect(start).toBe(parts[index - 1]?.end);
        }
      }),
    );
  });

  it('are whole hours and minutes, with edges shorter than a minute', () => {
    fc.assert(
      fc.property(spans, (window) => {
        const { hours, minutes, rest } = partsOf(window);
        if (hours.start < hours.end)
          expect([hours.start % HOUR, hours.end % HOUR].map(Math.abs)).toEqual([0, 0]);
        for (const { start, end } of minutes) {
          if (start < end) expect([start % MINUTE, end % MINUTE].map(Math.abs)).toEqual([0, 0]);
          expect(end - start).toBeLessThan(2 * HOUR);
        }
        for (const { start, end } of rest) expect(end - start).toBeLessThan(2 * MINUTE);
      }),
    );
  });

  it('begin after the moment that lies so many seconds back, and end with now', () => {
    expect(windowUpTo(10_000_000, 3)).toEqual({ start: 7_000_001, end: 10_000_001 });
  });
});
