import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '#libs/testing/eventually.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { CapacityWatch } from './capacity-watch.js';
import { ClockWatch } from './clock-watch.js';
import { Conditions, type Impediment } from './conditions.js';
import { ProjectionWatch } from './projection-watch.js';

const HOUR = 3_600_000;
const MAX_LAG_EVENTS = 10;
const MAX_LAG_MILLIS = 5_000;

let clock: MovableClock;
let head: number;
let position: () => Promise<number>;
let room: () => Promise<boolean>;
let progress: number[];
let conditions: Conditions;

beforeEach(async () => {
  clock = new MovableClock();
  head = 1;
  position = () => Promise.resolve(1);
  room = () => Promise.resolve(true);
  progress = [];
  conditions = new Conditions(
    new ClockWatch({
      clock,
      reference: () => Promise.resolve(clock.trueEpochNanos()),
      lastEventNanos: () => 0n,
      maxOffsetMillis: 1_000,
      pollMillis: 10,
    }),
    new ProjectionWatch({
      clock,
      position: () => position(),
      head: () => head,
      onProgress: (projectedTo) => progress.push(projectedTo),
      maxLagEvents: MAX_LAG_EVENTS,
      maxLagMillis: MAX_LAG_MILLIS,
      pollMillis: 10,
    }),
    new CapacityWatch({ clock, hasRoom: () => room(), pollMillis: 10 }),
  );
  await conditions.start();
});
afterEach(() => {
  conditions.stop();
  clock.forgetTimers();
});

function becomes(impediment: Impediment | undefined): Promise<void> {
  return eventually(() => expect(conditions.impediment()).toBe(impediment));
}

it('there is no impediment when nothing is wrong', () => {
  expect(conditions.impediment()).toBeUndefined();
  expect(conditions.isUnsafe()).toBe(false);
});

describe('the position of the projections', () => {
  /** Waits until the watch has polled this position. */
  const polledTwice = async (reported: number): Promise<void> => {
    let polls = 0;
    position = () => {
      polls += 1;
      return Promise.resolve(reported);
    };
    await eventually(() => expect(polls).toBeGreaterThan(1));
  };

  it('is ignored if it was never written, and the projections count as late', async () => {
    head = 3;
    await polledTwice(1_000);
    expect(conditions.impediment()).toBeUndefined();
    clock.leap(MAX_LAG_MILLIS + 1_000);
    await becomes('PROJECTION_LAG');
    expect([progress, conditions.projection.projectedTo]).toEqual([[1], 1]);
    position = () => Promise.resolve(3);
    await becomes(undefined);
    expect(progress).toEqual([1, 3]);
  });

  it('may go back, and counts from then on', async () => {
    head = 3;
    position = () => Promise.resolve(3);
    await eventually(() => expect(conditions.projection.projectedTo).toBe(3));
    head = 4;
    await polledTwice(2);
    expect([conditions.projection.lagEvents, conditions.impediment()]).toEqual([2, undefined]);
    clock.leap(MAX_LAG_MILLIS + 1_000);
    await becomes('PROJECTION_LAG');
    expect(progress).toEqual([1, 3]);
  });
});

describe('there is an impediment', () => {
  it('while the owner drains, which can be undone', () => {
    expect([conditions.drain(), conditions.drain()]).toEqual([true, false]);
    expect(conditions.impediment()).toBe('DRAINING');
    expect(conditions.isUnsafe()).toBe(true);
    expect([conditions.resume(), conditions.resume()]).toEqual([true, false]);
    expect(conditions.impediment()).toBeUndefined();
  });

  it('while the process stops, which cannot be undone', () => {
    conditions.leave();
    conditions.resume();
    expect([conditions.draining, conditions.leaving]).toEqual([true, true]);
    expect(conditions.impediment()).toBe('DRAINING');
    expect(conditions.isUnsafe()).toBe(true);
  });

  it('while the clock cannot be trusted', async () => {
    clock.setWall(HOUR);
    expect(conditions.impediment()).toBe('CLOCK');
    expect(conditions.isUnsafe()).toBe(true);
    clock.setWall(0);
    await becomes(undefined);
  });

  it('while the journal has no room, and a different one while its room is unknown', async () => {
    room = () => Promise.resolve(false);
    await becomes('JOURNAL_FULL');
    expect(conditions.isUnsafe()).toBe(true);
    room = () => Promise.resolve(true);
    await becomes(undefined);
    room = () => Promise.reject(new Error('no answer'));
    await becomes('JOURNAL_ROOM_UNKNOWN');
    expect(conditions.isUnsafe()).toBe(true);
    room = () => Promise.resolve(false);
    await becomes('JOURNAL_FULL');
  });

  it('while the projections lag by too many events', async () => {
    head = 1 + MAX_LAG_EVENTS;
    expect(conditions.impediment()).toBeUndefined();
    head += 1;
    expect(conditions.impediment()).toBe('PROJECTION_LAG');
    // A preflight promises nothing, so this does not block it.
    expect(conditions.isUnsafe()).toBe(false);
    position = () => Promise.resolve(head);
    await becomes(undefined);
    expect(progress.at(-1)).toBe(head);
  });

  it('while the projections have not moved for too long, even with a lag of one event', async () => {
    head = 2;
    await eventually(() => expect(conditions.projection.lagEvents).toBe(1));
    await new Promise((resolve) => setTimeout(resolve, 40));
    clock.leap(MAX_LAG_MILLIS - 1_000);
    expect(conditions.impediment()).toBeUndefined();
    clock.leap(2_000);
    expect(conditions.impediment()).toBe('PROJECTION_LAG');
    position = () => Promise.resolve(2);
    await becomes(undefined);
  });

  it('while the position of the projections is not known', async () => {
    position = () => Promise.reject(new Error('no answer'));
    head = 2;
    await new Promise((resolve) => setTimeout(resolve, 40));
    clock.leap(MAX_LAG_MILLIS + 1_000);
    await becomes('PROJECTION_LAG');
  });

  it('but not after a quiet hour with nothing to project', () => {
    clock.leap(HOUR);
    expect(conditions.impediment()).toBeUndefined();
  });

  it('nor with a projection that keeps up with a busy shard', async () => {
    for (let round = 0; round < 20; round += 1) {
      head += 1;
      const reached = head - 1;
      position = () => Promise.resolve(reached);
      await new Promise((resolve) => setTimeout(resolve, 15));
      clock.leap(1_000);
    }
    await becomes(undefined);
  });
});

it('the gravest of several impediments is reported', async () => {
  head = 1_000;
  room = () => Promise.resolve(false);
  await becomes('JOURNAL_FULL');
  clock.setWall(HOUR);
  expect(conditions.impediment()).toBe('CLOCK');
  conditions.drain();
  expect(conditions.impediment()).toBe('DRAINING');
});
