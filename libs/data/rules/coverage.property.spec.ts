import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { coverageOf, coveragePercent, coverageText, historyFrom } from './coverage.js';

const NOW = 1_795_176_000_000_000;
const SECOND = 1_000_000;

describe('the history of a market', () => {
  it.each([
    [
      'from its listing, if the source reaches back to it',
      { listed_at: 5, reaches: 'listing', oldest: 7 },
      5,
    ],
    ['from the start of the backfill, if the source does not', { listed_at: 5, reaches: 6, oldest: 7 }, 6],
    ['from its listing, if the backfill reaches beyond it', { listed_at: 5, reaches: 4, oldest: 7 }, 5],
    ['from its oldest trade, if nothing else is known', { listed_at: 5, reaches: undefined, oldest: 7 }, 7],
    ['from its oldest trade, without a listing', { reaches: 'listing', oldest: 7 }, 7],
    ['unknown, without listing and trades', { reaches: 'listing' }, null],
    [
      'never before the retained data',
      { listed_at: 5, reaches: 'listing', oldest: 7, retained_from: 100 },
      100,
    ],
    [
      'from its listing, if that is later than the retained data',
      { listed_at: 500, reaches: 'listing', retained_from: 100 },
      500,
    ],
  ] as const)('is complete: %s', (_title, history, from) => {
    expect(historyFrom(history)).toBe(from);
  });
});

describe('coverage', () => {
  const anySpan = fc.tuple(fc.nat(30), fc.nat(10)).map(([from, length]) => ({ from, to: from + length }));

  it('is partial exactly if the window begins too early or touches a gap', () => {
    fc.assert(
      fc.property(fc.option(fc.nat(30)), fc.array(anySpan, { maxLength: 4 }), anySpan, (from, gaps, span) => {
        const window = { start: span.from, end: span.to };
        const touched = gaps.filter((gap) => {
          for (let at = window.start; at <= window.end; at += 1)
            if (at >= gap.from && at <= gap.to) return true;
          return false;
        });
        const isComplete = from !== null && from <= window.start && touched.length === 0;
        expect(coverageOf(window, from, gaps)).toEqual({
          isComplete,
          history_from: from,
          gaps: touched.length,
        });
      }),
    );
  });

  it('is printed for the header', () => {
    expect(coverageText({ isComplete: true, history_from: NOW, gaps: 0 })).toBe('complete');
    expect(coverageText({ isComplete: false, history_from: NOW, gaps: 2 })).toBe(
      'partial; from=2026-11-20T12:00:00Z; gaps=2',
    );
    expect(coverageText({ isComplete: false, history_from: null, gaps: 0 })).toBe('partial; gaps=0');
  });

  it('in percent counts the seconds of the window after the oldest trade that lie in no gap', () => {
    const anyGap = fc.tuple(fc.integer({ min: -30, max: 100 }), fc.nat(40));
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 80 }),
        fc.integer({ min: 0, max: 120 }),
        fc.array(anyGap, { maxLength: 4 }),
        (window_seconds, age, spans) => {
          const gaps = spans.map(([from, length]) => ({
            from: NOW - from * SECOND,
            to: NOW - (from - length) * SECOND,
          }));
          let covered = 0;
          for (let second = 0; second < window_seconds; second += 1) {
            const middle = NOW - second * SECOND - SECOND / 2;
            const isInGap = gaps.some(({ from, to }) => middle > from && middle < to);
            if (second < age && !isInGap) covered += 1;
          }
          const oldest = NOW - age * SECOND;
          const got = coveragePercent({ window_seconds, now: NOW, hasTrades: true, oldest, gaps });
          expect(Math.abs(got - (100 * covered) / window_seconds)).toBeLessThanOrEqual(0.000_000_6);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('in percent is 0 if nothing traded in the window', () => {
    const window = { window_seconds: 60, now: NOW, oldest: NOW - 3_600 * SECOND, gaps: [] };
    expect(coveragePercent({ ...window, hasTrades: false })).toBe(0);
    expect(coveragePercent({ ...window, hasTrades: true })).toBe(100);
  });
});
