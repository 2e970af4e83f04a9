import { expect, it } from '@jest/globals';
import { MemoryWatch } from './memory.js';

const MEGABYTE = 1_048_576;

/** What is found where a process holds so many megabytes at each look, with so many events in each part. */
async function faultsOf(name: string, megabytes: readonly number[], events = 0): Promise<string[]> {
  const waiting = [...megabytes];
  const watch = new MemoryWatch(() => Promise.resolve(new Map([[name, (waiting.shift() ?? 0) * MEGABYTE]])), {
    look: () => Promise.resolve({ tables: '', heads: [], shown: new Map() }),
    eventsSince: () => Promise.resolve(Array.from({ length: events }, () => ({ type: 'AUCTION_OPENED' }))),
  });
  for (let looks = megabytes.length; looks > 0; looks -= 1) await watch.look();
  return watch.faults();
}

it('finds what a process keeps of every request, long before it is much', async () => {
  expect(await faultsOf('gateway-0', [60, 64, 67, 71, 74])).toEqual([
    'memory: gateway-0 holds more and more, 3.0 MiB at least in each part',
  ]);
});

it('lets pass what comes once, and what comes and goes', async () => {
  expect(await faultsOf('gateway-0', [60, 75, 75, 75, 76])).toEqual([]);
  expect(await faultsOf('gateway-0', [60, 65, 62, 68, 74])).toEqual([]);
});

it('finds what is much, whenever it came', async () => {
  expect(await faultsOf('gateway-0', [60, 60, 85, 85, 85])).toEqual([
    'memory: gateway-0 holds 25.0 MiB more',
  ]);
});

it('lets an owner remember what it has journaled, and a gateway nothing', async () => {
  const looks = [60, 64, 67, 71, 74];
  expect(await faultsOf('owner-0', looks, 200)).toEqual([]);
  expect(await faultsOf('gateway-0', looks, 200)).toHaveLength(1);
});
