import { describe, expect, it } from '@jest/globals';
import { BackOff } from './child.js';
import { summarise } from './log-file.js';

const SECOND = 1_000_000_000n;

describe('BackOff', () => {
  it('has no wait at first, and then doubles it up to five seconds', () => {
    const backOff = new BackOff();
    const waits = Array.from({ length: 8 }, () => backOff.next(SECOND));
    expect(waits).toEqual([0, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
  });

  it('is reset after a minute without an end', () => {
    const backOff = new BackOff();
    backOff.next(SECOND);
    backOff.next(SECOND);
    expect(backOff.next(59n * SECOND)).toBe(400);
    expect(backOff.next(60n * SECOND)).toBe(0);
  });
});

describe('summarise, for lines of a log', () => {
  it.each([
    ['{"level":"info","msg":"x"}', undefined],
    ['{"level":"warn","msg":"slow"}', 'warn slow'],
    ['{"level":"error","msg":"failed","err":{"message":"disk full"}}', 'error failed (disk full)'],
    ['TypeError: x is not a function', 'TypeError: x is not a function'],
    ['    at main (file.js:1:1)', undefined],
    ['', undefined],
  ])('%s', (line, summary) => {
    expect(summarise(line)).toBe(summary);
  });
});
