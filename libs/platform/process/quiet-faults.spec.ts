import { describe, expect, it } from '@jest/globals';
import { quietly } from './log.js';

describe('lasting faults', () => {
  it('are reported at once, when they change, and again after ten seconds', () => {
    let seconds = 0n;
    const reported: string[] = [];
    const clock = {
      epochNanos: () => 0n,
      monotonicNanos: () => seconds * 1_000_000_000n,
      after: () => () => undefined,
    };
    const onFault = quietly((what, error) => reported.push(`${seconds} ${what} ${String(error)}`), clock);
    for (const [at, what, error] of [
      [0n, 'shard 0', 'lost'],
      [1n, 'shard 0', 'lost'],
      [2n, 'shard 1', 'lost'],
      [3n, 'shard 0', 'found'],
      [4n, 'shard 0', 'found'],
      [13n, 'shard 0', 'found'],
    ] as const) {
      seconds = at;
      onFault(what, error);
    }
    expect(reported).toEqual(['0 shard 0 lost', '2 shard 1 lost', '3 shard 0 found', '13 shard 0 found']);
  });
});
