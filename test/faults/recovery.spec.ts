import { describe, expect, it } from '@jest/globals';
import { lateIn } from './recovery.js';

const recovery = (openAuctions: number, readyMs: number, servesMs = readyMs) => ({
  openAuctions,
  readyMs,
  servesMs,
});

describe('a recovery', () => {
  it('is late if ten thousand auctions take longer than the promised five seconds', () => {
    expect(lateIn(recovery(10_000, 4_990))).toEqual([]);
    expect(lateIn(recovery(10_000, 5_010))).toEqual([
      'recovery in time: with 10000 open auctions ready after 5010 ms, later than 5000 ms',
    ]);
  });

  it('has proportionally more time for more auctions', () => {
    expect(lateIn(recovery(20_000, 9_990))).toEqual([]);
    expect(lateIn(recovery(20_000, 10_010))).toHaveLength(1);
  });

  it('is not late with fewer auctions within the limit for a busy machine', () => {
    expect(lateIn(recovery(100, 7_000))).toEqual([]);
    expect(lateIn(recovery(100, 30_010))).toHaveLength(2);
  });

  it('is late if it says that it is ready but serves no command', () => {
    expect(lateIn(recovery(10_000, 1_000, 30_010))).toEqual([
      'recovery in time: with 10000 open auctions serving after 30010 ms, later than 30000 ms',
    ]);
  });
});
