import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { GOALS, missedGoals, OUT_OF_REACH } from './coverage-goals.js';

const DOCUMENT = path.resolve(import.meta.dirname, '../../../docs/understand/simulator.md');

describe('the coverage goals of the simulator', () => {
  it('are listed once each', () => {
    expect(new Set(GOALS).size).toBe(GOALS.length);
  });

  it('are missed if they were never reached, or if a common one was reached too seldom', () => {
    const all = new Map(GOALS.map((goal) => [goal, 1_000_000]));
    const often = new Map([...all, ['stream events', 1_000_000]]);
    expect(missedGoals(often, 1_000)).toEqual([]);
    const seldom = new Map([...often, ['event EXECUTION_CONFIRMED', 1], ['fault CRASH', 0]]);
    expect(missedGoals(seldom, 1_000)).toEqual([
      'fault CRASH',
      'event EXECUTION_CONFIRMED (1 of at least 650)',
    ]);
  });

  it('lists what is out of reach in the same words as the document', () => {
    const [, told = ''] = readFileSync(DOCUMENT, 'utf8').split('## What it does not reach');
    expect(OUT_OF_REACH.filter((one) => !told.includes(one))).toEqual([]);
  });
});
