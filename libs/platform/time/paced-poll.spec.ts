import { beforeEach, expect, it } from '@jest/globals';
import type { Cancel, Clock } from './clock.js';
import { PacedPoll } from './paced-poll.js';

const PACE = { busyMillis: 10, idleMillis: 100 };

/** A clock with one timer, which the test runs. */
class SingleTimerClock implements Clock {
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

let clock: SingleTimerClock;
let polls: number;
let pacedPoll: PacedPoll;

beforeEach(() => {
  clock = new SingleTimerClock();
  polls = 0;
  pacedPoll = new PacedPoll(clock, PACE, () => {
    polls += 1;
    return Promise.resolve();
  });
  pacedPoll.start();
});

async function untilIdle(): Promise<void> {
  for (let round = 0; round < 20 && clock.wait === PACE.busyMillis; round += 1) await clock.run();
  expect(clock.wait).toBe(PACE.idleMillis);
}

it('polls often while callers want results, and rarely some polls later', async () => {
  for (let round = 0; round < 30; round += 1) {
    pacedPoll.wanted();
    await clock.run();
    expect(clock.wait).toBe(PACE.busyMillis);
  }
  expect(polls).toBe(30);
  await untilIdle();
  await clock.run();
  expect(clock.wait).toBe(PACE.idleMillis);
});

it('polls at once, and only once, for several callers after an idle time', async () => {
  await untilIdle();
  const before = polls;
  pacedPoll.wanted();
  pacedPoll.wanted();
  expect(polls).toBe(before + 1);
  await new Promise(setImmediate);
  expect([polls, clock.wait]).toEqual([before + 1, PACE.busyMillis]);
});

it('does not poll after it is stopped, even if a caller wants a result', async () => {
  await untilIdle();
  const before = polls;
  pacedPoll.stop();
  pacedPoll.wanted();
  await clock.run();
  expect([polls, clock.isArmed]).toEqual([before, false]);
});
