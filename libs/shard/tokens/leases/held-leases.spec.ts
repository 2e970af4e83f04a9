import { beforeEach, describe, expect, it } from '@jest/globals';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { HeldLeases, type Taken } from './held-leases.js';

const HOME = { shard: 0, connection: 1 };

let clock: MovableClock;
let leases: HeldLeases<'quote' | 'withdraw'>;

beforeEach(() => {
  clock = new MovableClock();
  clock.stopAtEpoch(clock.epochNanos());
  leases = new HeldLeases(clock);
});

function wishes(account = 'ann'): number | undefined {
  return leases.wish(HOME, account, 'quote')?.lease;
}

function opened(size: number, account = 'ann'): number {
  const number = wishes(account)!;
  leases.arrived(number, size);
  return number;
}

function takes(times: number, home = HOME): Taken[] {
  return Array.from({ length: times }, () => leases.take(home, 'ann', 'quote'));
}

describe('a holder', () => {
  it('takes as many tokens as were leased, of this account and bucket alone', () => {
    opened(2);
    expect(leases.take(HOME, 'bob', 'quote')).toBe('NONE');
    expect(leases.take(HOME, 'ann', 'withdraw')).toBe('NONE');
    expect(takes(3)).toEqual(['TAKEN', 'FEW_LEFT', 'NONE']);
  });

  it('has nothing before the lease arrives', () => {
    expect(wishes()).toBe(1);
    expect(takes(1)).toEqual(['NONE']);
  });

  it('requests one lease at a time, and the next one when a quarter is left', () => {
    expect(wishes()).toBe(1);
    expect(wishes()).toBeUndefined();
    leases.arrived(1, 8);
    expect(takes(6)).toEqual(['TAKEN', 'TAKEN', 'TAKEN', 'TAKEN', 'TAKEN', 'FEW_LEFT']);
    opened(8);
    expect(wishes()).toBeUndefined();
    // One from each lease, which leaves two.
    expect(takes(8)).toEqual([...Array<Taken>(7).fill('TAKEN'), 'FEW_LEFT']);
    expect(wishes()).toBe(3);
  });

  it('holds no more leases than it may', () => {
    leases = new HeldLeases(clock, 2);
    expect([wishes('ann'), wishes('bob'), wishes('cid')]).toEqual([1, 2, undefined]);
  });

  it('forgets a request that the home shard has not granted', () => {
    leases.arrived(wishes()!, 0);
    expect(leases.size).toBe(0);
    expect(wishes()).toBe(2);
  });
});

describe('what was used', () => {
  it('is reported until it is acknowledged, and again when there is more', () => {
    const number = opened(8);
    expect(leases.homesToReportTo).toEqual([]);
    takes(3);
    expect([leases.homesToReportTo, leases.reportsFor(0)]).toEqual([[0], [[number, 3, false]]]);
    const reports = leases.reportsFor(0);
    takes(1);
    leases.acknowledged(0, reports);
    expect(leases.reportsFor(0)).toEqual([[number, 4, false]]);
    leases.acknowledged(0, leases.reportsFor(0));
    expect([leases.homesToReportTo, leases.size]).toEqual([[], 1]);
  });

  it('is reported as final with the last token, and then forgotten', () => {
    const number = opened(2);
    takes(1);
    const before = leases.reportsFor(0);
    takes(1);
    leases.acknowledged(0, before);
    expect(leases.reportsFor(0)).toEqual([[number, 2, true]]);
    leases.acknowledged(0, leases.reportsFor(0));
    expect([leases.homesToReportTo, leases.size]).toEqual([[], 0]);
  });

  it('is reported as nothing if the home shard may or may not have granted the lease', () => {
    const number = wishes()!;
    leases.unanswered(number);
    leases.arrived(number, 8);
    expect(takes(1)).toEqual(['NONE']);
    expect(leases.reportsFor(0)).toEqual([[number, 0, true]]);
  });

  it('is forgotten if the home shard does not acknowledge it within the time of the lease', () => {
    opened(8);
    takes(1);
    clock.leap(10_000);
    leases.expire(() => undefined);
    leases.expire(() => undefined);
    expect([leases.homesToReportTo, leases.size]).toEqual([[], 0]);
  });
});

describe('a lease ends', () => {
  it('when it is recalled, even before it arrives, and reports the same use again', () => {
    const open = opened(8);
    takes(3);
    const asked = wishes()!;
    expect(leases.recall([open, asked, 99])).toEqual([3, 0, null]);
    leases.arrived(asked, 8);
    expect(takes(1)).toEqual(['NONE']);
    expect(leases.recall([open])).toEqual([3]);
    expect(leases.reportsFor(0)).toEqual([
      [open, 3, true],
      [asked, 0, true],
    ]);
  });

  it('when it has not been used for two seconds', () => {
    const number = opened(8);
    clock.leap(1_999);
    takes(1);
    clock.leap(1_999);
    leases.expire(() => 1);
    expect(leases.reportsFor(0)).toEqual([[number, 1, false]]);
    clock.leap(1);
    leases.expire(() => 1);
    expect(leases.reportsFor(0)).toEqual([[number, 1, true]]);
  });

  it('ten seconds after its request, not after its arrival', () => {
    const number = wishes()!;
    clock.leap(40);
    leases.arrived(number, 800);
    for (let second = 0; second < 9; second += 1) {
      expect(takes(1)).toEqual(['TAKEN']);
      clock.leap(1_000);
    }
    clock.leap(959);
    expect(takes(1)).toEqual(['TAKEN']);
    clock.leap(1);
    expect(takes(1)).toEqual(['NONE']);
    expect(leases.reportsFor(0)).toEqual([[number, 10, true]]);
  });

  it('with the connection to the home shard, because a new process there would not know it', () => {
    const number = opened(8);
    expect(takes(1, { ...HOME, connection: 2 })).toEqual(['NONE']);
    expect(leases.reportsFor(0)).toEqual([[number, 0, true]]);
    const other = opened(8, 'bob');
    leases.expire(() => undefined);
    expect(leases.reportsFor(0)).toContainEqual([other, 0, true]);
  });
});
