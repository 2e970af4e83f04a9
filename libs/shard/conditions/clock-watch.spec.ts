import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '#libs/testing/eventually.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { ClockWatch } from './clock-watch.js';

const MILLI = 1_000_000n;
const MAX_OFFSET = 1_000;
const HOUR = 3_600_000;

let clock: MovableClock;
let reference: () => Promise<bigint>;
let lastEvent: bigint;
let watch: ClockWatch;

beforeEach(() => {
  clock = new MovableClock();
  reference = () => Promise.resolve(clock.trueEpochNanos());
  lastEvent = 0n;
  watch = new ClockWatch({
    clock,
    reference: () => reference(),
    lastEventNanos: () => lastEvent,
    maxOffsetMillis: MAX_OFFSET,
    pollMillis: 10,
  });
});
afterEach(() => {
  watch.stop();
  clock.forgetTimers();
});

function ahead(millis: number): () => Promise<bigint> {
  return () => Promise.resolve(clock.trueEpochNanos() + BigInt(millis) * MILLI);
}

function millisFromTruth(): number {
  return Number((watch.epochNanos() - clock.trueEpochNanos()) / MILLI);
}

async function polled(times = 2): Promise<void> {
  for (let look = 0; look < times; look += 1) await new Promise((resolve) => setTimeout(resolve, 25));
}

it('a clock is not trusted before another clock has agreed with it', async () => {
  expect(watch.isSound()).toBe(false);
  await watch.start();
  expect(watch.isSound()).toBe(true);
});

it.each([
  [MAX_OFFSET - 100, true],
  [-(MAX_OFFSET - 100), true],
  [MAX_OFFSET + 100, false],
  [-(MAX_OFFSET + 100), false],
])('with a reference that is %d ms ahead: %s', async (millis, sound) => {
  reference = ahead(millis);
  await watch.start();
  expect(watch.isSound()).toBe(sound);
  expect(Math.abs((watch.offsetMillis ?? NaN) - millis)).toBeLessThan(50);
});

it('a clock is not trusted while it is earlier than the last event', async () => {
  lastEvent = clock.epochNanos() + 2_000n * MILLI;
  await watch.start();
  expect(watch.isSound()).toBe(false);
  clock.leap(2_000);
  await eventually(() => expect(watch.isSound()).toBe(true));
});

describe('an answer that took longer than clocks may differ', () => {
  const SLOW = 100;
  const TOO_FAR = 60;
  let hasty: ClockWatch;

  beforeEach(() => {
    hasty = new ClockWatch({
      clock,
      reference: () => reference(),
      lastEventNanos: () => lastEvent,
      maxOffsetMillis: 20,
      pollMillis: 10,
    });
  });
  afterEach(() => hasty.stop());

  function slowly(millisAhead: number): () => Promise<bigint> {
    return async () => {
      const answer = await ahead(millisAhead)();
      await new Promise((resolve) => setTimeout(resolve, SLOW));
      return answer;
    };
  }

  it('makes no clock trusted, because it may hide an error of half its delay', async () => {
    reference = slowly(TOO_FAR);
    await hasty.start();
    expect(hasty.isSound()).toBe(false);
  });

  it('does not revoke trust either', async () => {
    reference = ahead(0);
    await hasty.start();
    reference = slowly(10 * TOO_FAR);
    await polled(10);
    expect(hasty.isSound()).toBe(true);
  });
});

it('keeps the last result when the other clock stops answering, and still notices a jump', async () => {
  await watch.start();
  reference = () => Promise.reject(new Error('no answer'));
  await polled();
  expect(watch.isSound()).toBe(true);
  clock.setWall(HOUR);
  expect(watch.isSound()).toBe(false);
});

describe.each([HOUR, -HOUR])('a jump of %d ms', (jump) => {
  beforeEach(() => watch.start());

  it('is noticed by the next check, before any comparison', () => {
    clock.setWall(jump);
    expect(watch.isSound()).toBe(false);
  });

  it('does not move the time for decisions', async () => {
    clock.setWall(jump);
    expect(Math.abs(millisFromTruth())).toBeLessThan(5);
    clock.leap(5_000);
    await polled();
    expect(Math.abs(millisFromTruth())).toBeLessThan(5);
    clock.setWall(0);
    await eventually(() => expect(watch.isSound()).toBe(true));
    expect(Math.abs(millisFromTruth())).toBeLessThan(5);
  });

  it('becomes the time when the other clock has moved with it', async () => {
    clock.setWall(jump);
    reference = ahead(jump);
    await eventually(() => expect(watch.isSound()).toBe(true));
    expect(Math.abs(millisFromTruth() - jump)).toBeLessThan(5);
  });
});

it('tolerates the small steps of a synchronized clock', async () => {
  await watch.start();
  clock.setWall(400);
  expect(watch.isSound()).toBe(true);
  clock.setWall(600);
  expect(watch.isSound()).toBe(false);
});

it.each([HOUR, -HOUR])('a clock that is wrong from the start, by %d ms, is not used', async (millis) => {
  clock.setWall(millis);
  watch = new ClockWatch({
    clock,
    reference: () => reference(),
    lastEventNanos: () => lastEvent,
    maxOffsetMillis: MAX_OFFSET,
    pollMillis: 10,
  });
  await watch.start();
  expect(watch.isSound()).toBe(false);
  expect(Math.abs(millisFromTruth())).toBeLessThan(50);
  clock.setWall(0);
  await polled();
  expect(watch.isSound()).toBe(true);
});
