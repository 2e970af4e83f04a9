import { expect, it } from '@jest/globals';
import { type JournalEntry, readAhead } from './journal.js';
import { beforeFirst, linkEvent } from './hash-chain.js';

const SIZE = 3;

function entryAt(sequence: number): JournalEntry {
  return linkEvent(0, { ...beforeFirst('auction'), sequence: sequence - 1 }, '{}');
}

/**
 * A journal of ten records. `requested` has the order of its page requests. Like a driver, it sends requests on the next tick.
 */
function journal(failsFrom = Infinity) {
  const requested: number[] = [];
  const read = (from: number): Promise<JournalEntry[]> => {
    process.nextTick(() => requested.push(from));
    if (from >= failsFrom) return Promise.reject(new Error('away'));
    const length = Math.min(SIZE, 11 - from);
    return Promise.resolve(Array.from({ length }, (_, index) => entryAt(from + index)));
  };
  return { requested, read };
}

it('returns every record once and in order, and requests a page while the previous one is processed', async () => {
  const { requested, read } = journal();
  const received: number[] = [];
  for await (const page of readAhead(read, { from: 2, to: 10 })) {
    expect(requested.at(-1)).toBe(Math.min(8, (page[0]?.sequence ?? 0) + SIZE));
    received.push(...page.map(({ sequence }) => sequence));
  }
  expect(received).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(requested).toEqual([2, 5, 8]);
});

it('returns the records before a failing page, and then fails', async () => {
  const { read } = journal(7);
  const received: number[] = [];
  const reading = (async () => {
    for await (const page of readAhead(read, { from: 1, to: 10 }))
      received.push(...page.map(({ sequence }) => sequence));
  })();
  await expect(reading).rejects.toThrow('away');
  expect(received).toEqual([1, 2, 3, 4, 5, 6]);
});

it('leaves no unhandled failure of a page after the reader stops', async () => {
  const { read } = journal(4);
  for await (const page of readAhead(read, { from: 1, to: 10 })) {
    expect(page).toHaveLength(SIZE);
    break;
  }
  await new Promise((resolve) => setImmediate(resolve));
});

it('reads nothing from an empty journal', async () => {
  const { requested, read } = journal();
  for await (const page of readAhead(read, { from: 11, to: 10 })) expect(page).toBeUndefined();
  expect(requested).toEqual([]);
});
