import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { GOALS, OUT_OF_REACH } from './coverage-goals.js';

const DOCUMENT = path.resolve(import.meta.dirname, '../../../../docs/simulator.md');

describe('what a run of the simulator reaches', () => {
  it('is named once each', () => {
    expect(new Set(GOALS).size).toBe(GOALS.length);
  });

  it('says of what is out of reach the same as the document', () => {
    const [, told = ''] = readFileSync(DOCUMENT, 'utf8').split('## What it does not reach');
    expect(OUT_OF_REACH.filter((one) => !told.includes(one))).toEqual([]);
  });
});
