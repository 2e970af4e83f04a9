import { Worker } from 'node:worker_threads';
import { describe, expect, it } from '@jest/globals';
import { campaign } from './campaign.js';
import { SearchThread } from './thread.js';

/** A thread that certain seeds break. A second seed on the same thread would fail on what the first one left. */
const FRAGILE = `
  const { parentPort } = require('node:worker_threads');
  let isBroken = false;
  parentPort.on('message', ({ kind, seed }) => {
    parentPort.postMessage({ kind: 'ALIVE' });
    for (const line of ['one', 'two']) parentPort.postMessage({ kind: 'LINE', trial: 'WORLD', line });
    if (seed === 2) for (;;);
    if (seed === 3) void Promise.reject(new TypeError('planted'));
    if (seed === 4) process.exit(9);
    if (seed === 3 || seed === 4) return;
    if (seed === 20) for (const growing = [];;) growing.push([seed]);
    const violation = isBroken ? { check: 'left over', what: 'left over' } : undefined;
    isBroken = seed === 5;
    const outcome = { seed, trial: 'WORLD', digest: 'd', steps: 1, simulatedMillis: 1, coverage: { met: 1 }, lines: [] };
    const broken = { check: 'a promise', what: 'it is broken' };
    parentPort.postMessage({ kind: 'SEARCHED', outcome: { ...outcome, violation: isBroken ? broken : violation } });
  });
`;

const PATIENCE_SECONDS = 2;

function fragile(): SearchThread {
  return new SearchThread(() => new Worker(FRAGILE, { eval: true }), PATIENCE_SECONDS);
}

describe('a campaign', () => {
  it('goes on with a fresh thread after a seed ended, blocked or broke its own', async () => {
    const told: string[] = [];
    const findings = await campaign({
      from: 1,
      count: 7,
      threads: 1,
      thread: fragile,
      mostFailures: 9,
      onOutcome: ({ seed, violation }) => told.push(`${seed} ${violation?.what ?? 'is sound'}`),
    });
    expect(told.map((line) => line.split('\n')[0])).toEqual([
      '1 is sound',
      `2 every seed comes to an end: this one did not within ${PATIENCE_SECONDS} s`,
      '3 no thread ends: TypeError: planted',
      '4 no thread ends: it ended with 9',
      '5 it is broken',
      '6 is sound',
      '7 is sound',
    ]);
    expect(findings.failures.map(({ seed }) => seed)).toEqual([2, 3, 4, 5]);
    expect([findings.searched, findings.steps, findings.coverage.get('met')]).toEqual([7, 4, 4]);
  });

  it('ends after the requested number of failures, whatever their kind', async () => {
    const options = { from: 2, count: 9, threads: 1, thread: fragile, mostFailures: 2 };
    const { searched } = await campaign({ ...options, onOutcome: () => undefined });
    expect(searched).toBe(2);
  });
});

describe('the thread of a seed', () => {
  it.each([2, 3, 4])('has passed on all trace lines until its thread was lost (%d)', async (seed) => {
    const thread = fragile();
    const { lines, trial } = await thread.search(seed, true);
    expect([lines, trial]).toEqual([['one', 'two'], undefined]);
    await thread.end();
  });

  it('is given up if a seed takes more and more memory, before the whole run runs out of it', async () => {
    const thread = new SearchThread(() => new Worker(FRAGILE, { eval: true }), 25);
    expect((await thread.search(20, false)).violation?.what).toContain('this one took more than 1024 MB');
    await thread.end();
  });

  it('says why it cannot shrink a trial that never ends', async () => {
    const thread = fragile();
    expect(await thread.shrink(2, 'WORLD', 'a promise')).toContain('this one did not');
    await thread.end();
  });
});
