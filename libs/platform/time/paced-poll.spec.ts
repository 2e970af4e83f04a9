import { beforeEach, expect, it } from '@jest/globals';
import type { Cancel, Clock } from './clock.js';
import { PacedPoll } from './paced-poll.js';

const PACE = { busyMillis: 10, idleMillis: 100 };

/** Holds the only timer, and runs it when told. */
class OneTimer implements Clock {
  wait = 0;
  private action: (() => void) | undefined;

  epochNanos(): bigint {
    return 0n;
  }

  monotonicNanos(): bigint {
    return 0n;
  }

  after(millis: number, action: () => void): Cancel {
    if (this.action !== undefined) throw new Error('there are two timers');
    this.wait = millis;
    this.action = action;
    return () => {
      this.action = undefined;
    };
  }

  async run(): Promise<void> {
    const { action } = this;
    this.action = undefined;
    action?.();
    await new Promise(setImmediate);
  }

  get isArmed(): boolean {
    return this.action !== undefined;
  }
}

let clock: OneTimer;
let looked: number;
let looks: PacedPoll;

beforeEach(() => {
  clock = new OneTimer();
  looked = 0;
  looks = new PacedPoll(clock, PACE, () => {
    looked += 1;
    return Promise.resolve();
  });
  looks.start();
});

async function untilIdle(): Promise<void> {
  for (let look = 0; look < 20 && clock.wait === PACE.busyMillis; look += 1) await clock.run();
  expect(clock.wait).toBe(PACE.idleMillis);
}

it('polls often while it is wanted, and seldom some polls after that', async () => {
  for (let look = 0; look < 30; look += 1) {
    looks.wanted();
    await clock.run();
    expect(clock.wait).toBe(PACE.busyMillis);
  }
  expect(looked).toBe(30);
  await untilIdle();
  await clock.run();
  expect(clock.wait).toBe(PACE.idleMillis);
});

it('polls at once, and once, for callers after an idle time', async () => {
  await untilIdle();
  const before = looked;
  looks.wanted();
  looks.wanted();
  expect(looked).toBe(before + 1);
  await new Promise(setImmediate);
  expect([looked, clock.wait]).toEqual([before + 1, PACE.busyMillis]);
});

it('stops polling when it is stopped, even if a caller wants a poll', async () => {
  await untilIdle();
  const before = looked;
  looks.stop();
  looks.wanted();
  await clock.run();
  expect([looked, clock.isArmed]).toEqual([before, false]);
});
