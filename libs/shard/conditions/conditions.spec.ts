import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { OwnerRequest } from '#libs/auction/protocol/protocol.js';
import { eventually } from '#libs/testing/eventually.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { CapacityWatch } from './capacity-watch.js';
import { ClockWatch } from './clock-watch.js';
import { Conditions } from './conditions.js';
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

function errorOf(op: OwnerRequest['op']): string | undefined {
  const answer = conditions.pause(op);
  expect([undefined, 503]).toContain(answer?.status);
  return answer === undefined ? undefined : (JSON.parse(answer.body) as { error: string }).error;
}

function becomes(error: string | undefined): Promise<void> {
  return eventually(() => expect(errorOf('create')).toBe(error));
}

const ALWAYS = ['withdraw', 'withdraw_all', 'cancel'] as const;

describe('everything is taken', () => {
  it('when nothing is the matter', () => {
    for (const op of ['create', 'submit', 'revise', ...ALWAYS] as const) expect(errorOf(op)).toBeUndefined();
    expect(conditions.isUnsafe()).toBe(false);
  });
});

describe('what the projections are said to have', () => {
  /** By then the watch has looked at it. */
  const seen = async (said: number): Promise<void> => {
    let looks = 0;
    position = () => {
      looks += 1;
      return Promise.resolve(said);
    };
    await eventually(() => expect(looks).toBeGreaterThan(1));
  };

  it('is not believed where it was never written: creates pause as if nobody projected', async () => {
    head = 3;
    await seen(1_000);
    expect(errorOf('create')).toBeUndefined();
    clock.leap(MAX_LAG_MILLIS + 1_000);
    await becomes('projection_backlog');
    expect([progress, conditions.projection.projectedTo]).toEqual([[1], 1]);
    position = () => Promise.resolve(3);
    await becomes(undefined);
    expect(progress).toEqual([1, 3]);
  });

  it('may be less than before, and counts from then on', async () => {
    head = 3;
    position = () => Promise.resolve(3);
    await eventually(() => expect(conditions.projection.projectedTo).toBe(3));
    head = 4;
    await seen(2);
    expect([conditions.projection.lagEvents, errorOf('create')]).toEqual([2, undefined]);
    clock.leap(MAX_LAG_MILLIS + 1_000);
    await becomes('projection_backlog');
    expect(progress).toEqual([1, 3]);
  });
});

describe('creates pause', () => {
  it('while the owner drains, which may be undone', () => {
    expect([conditions.drain(), conditions.drain()]).toEqual([true, false]);
    expect(errorOf('create')).toBe('auction_owner_unavailable');
    for (const op of ['submit', 'revise', ...ALWAYS] as const) expect(errorOf(op)).toBeUndefined();
    expect(conditions.isUnsafe()).toBe(true);
    expect([conditions.resume(), conditions.resume()]).toEqual([true, false]);
    expect(errorOf('create')).toBeUndefined();
  });

  it('while the process stops, which may not', () => {
    conditions.leave();
    conditions.resume();
    expect([conditions.draining, conditions.leaving]).toEqual([true, true]);
    expect(errorOf('create')).toBe('auction_owner_unavailable');
    expect(conditions.isUnsafe()).toBe(true);
  });

  it('while the clock is not to be trusted, and quotes with them', async () => {
    clock.setWall(HOUR);
    for (const op of ['create', 'submit', 'revise'] as const) expect(errorOf(op)).toBe('clock_unhealthy');
    for (const op of ALWAYS) expect(errorOf(op)).toBeUndefined();
    expect(conditions.isUnsafe()).toBe(true);
    clock.setWall(0);
    await becomes(undefined);
  });

  it('while the journal has no room, or nobody can tell, which is another thing', async () => {
    room = () => Promise.resolve(false);
    await becomes('journal_capacity_unhealthy');
    for (const op of ['submit', 'revise', ...ALWAYS] as const) expect(errorOf(op)).toBeUndefined();
    expect(conditions.isUnsafe()).toBe(true);
    room = () => Promise.resolve(true);
    await becomes(undefined);
    room = () => Promise.reject(new Error('no answer'));
    await becomes('auction_owner_unavailable');
    expect(conditions.isUnsafe()).toBe(true);
    room = () => Promise.resolve(false);
    await becomes('journal_capacity_unhealthy');
  });

  it('while the projections are too many events behind', async () => {
    head = 1 + MAX_LAG_EVENTS;
    expect(errorOf('create')).toBeUndefined();
    head += 1;
    expect(errorOf('create')).toBe('projection_backlog');
    for (const op of ['submit', 'revise', ...ALWAYS] as const) expect(errorOf(op)).toBeUndefined();
    // A preflight promises nothing, so this is no obstacle to one.
    expect(conditions.isUnsafe()).toBe(false);
    position = () => Promise.resolve(head);
    await becomes(undefined);
    expect(progress.at(-1)).toBe(head);
  });

  it('while the projections have not moved for too long, be it by one event', async () => {
    head = 2;
    await eventually(() => expect(conditions.projection.lagEvents).toBe(1));
    await new Promise((resolve) => setTimeout(resolve, 40));
    clock.leap(MAX_LAG_MILLIS - 1_000);
    expect(errorOf('create')).toBeUndefined();
    clock.leap(2_000);
    expect(errorOf('create')).toBe('projection_backlog');
    position = () => Promise.resolve(2);
    await becomes(undefined);
  });

  it('while nobody can say how far the projections are', async () => {
    position = () => Promise.reject(new Error('no answer'));
    head = 2;
    await new Promise((resolve) => setTimeout(resolve, 40));
    clock.leap(MAX_LAG_MILLIS + 1_000);
    await becomes('projection_backlog');
  });

  it('but not for a quiet hour in which there was nothing to project', () => {
    clock.leap(HOUR);
    expect(errorOf('create')).toBeUndefined();
  });

  it('nor for a projection that keeps up with a shard that never rests', async () => {
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

it('names the gravest of several reasons', async () => {
  head = 1_000;
  room = () => Promise.resolve(false);
  await becomes('journal_capacity_unhealthy');
  clock.setWall(HOUR);
  expect(errorOf('create')).toBe('clock_unhealthy');
  conditions.drain();
  expect(errorOf('create')).toBe('auction_owner_unavailable');
});
