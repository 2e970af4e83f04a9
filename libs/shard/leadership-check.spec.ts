import { beforeEach, describe, expect, it } from '@jest/globals';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { LeadershipCheck } from './leadership-check.js';

let clock: MovableClock;
let questions: { resolve(): void; reject(error: Error): void }[];
let leadership: LeadershipCheck;

beforeEach(() => {
  clock = new MovableClock();
  questions = [];
  leadership = new LeadershipCheck({ clock, writer: { confirm: ask } });
});

function ask(): Promise<void> {
  return new Promise((resolve, reject) => {
    questions.push({ resolve, reject });
  });
}

/** Ticks as of a process that runs. */
function live(millis: number): void {
  for (let passed = 0; passed < millis; passed += 200) {
    clock.leap(200);
    expect(typeof leadership.isSure).toBe('boolean');
  }
}

describe('an owner', () => {
  it('is sure of its shard for some seconds after each proof', () => {
    expect(leadership.isSure).toBe(true);
    live(4_000);
    expect(leadership.isSure).toBe(true);
    leadership.proven(clock.monotonicNanos());
    live(4_000);
    expect(leadership.isSure).toBe(true);
    live(2_000);
    expect(leadership.isSure).toBe(false);
    expect(questions).toEqual([]);
  });

  it('asks once for all who wait, and is sure again', async () => {
    live(6_000);
    const waiting = [leadership.isProven(), leadership.isProven()];
    questions[0]!.resolve();
    expect(await Promise.all(waiting)).toEqual([true, true]);
    expect(questions).toHaveLength(1);
    expect(leadership.isSure).toBe(true);
  });

  it('accepts as a proof since a moment only one that began then or later, and asks again where the current one began earlier', async () => {
    live(1_000);
    const early = leadership.isProvenSince(clock.monotonicNanos());
    live(200);
    const came = clock.monotonicNanos();
    expect(leadership.isSure).toBe(true);
    expect(leadership.isSureSince(came)).toBe(false);
    let late: boolean | undefined;
    void leadership.isProvenSince(came).then((isProven) => (late = isProven));
    questions[0]!.resolve();
    expect(await early).toBe(true);
    await new Promise(setImmediate);
    expect([late, questions.length]).toEqual([undefined, 2]);
    questions[1]!.resolve();
    await new Promise(setImmediate);
    expect(late).toBe(true);
    expect(leadership.isSureSince(came)).toBe(true);
  });

  it('has no proof since a moment where none comes in time, however sure it is otherwise', async () => {
    live(1_000);
    const proven = leadership.isProvenSince(clock.monotonicNanos());
    expect(leadership.isSure).toBe(true);
    clock.leap(2_100);
    expect(await proven).toBe(false);
  });

  it('that stood still is sure of nothing, however fresh its last proof was', async () => {
    leadership.proven(clock.monotonicNanos());
    clock.leap(600);
    expect(leadership.isSure).toBe(false);
    const proven = leadership.isProven();
    questions[0]!.resolve();
    expect(await proven).toBe(true);
  });

  it('does not take for a proof what was begun before it stood still', async () => {
    live(6_000);
    const proven = leadership.isProven();
    clock.leap(600);
    expect(typeof leadership.isSure).toBe('boolean');
    questions[0]!.resolve();
    await new Promise(setImmediate);
    expect(questions).toHaveLength(2);
    questions[1]!.resolve();
    expect(await proven).toBe(true);
  });

  it('may not answer where another process owns the shard, or the journal does not answer', async () => {
    live(6_000);
    const refused = leadership.isProven();
    questions[0]!.reject(new Error('fenced'));
    expect(await refused).toBe(false);
    const unheard = leadership.isProven();
    clock.leap(2_100);
    expect(await unheard).toBe(false);
  });

  it('notices by itself that it stood still, without being asked', () => {
    leadership.start();
    clock.leap(600);
    clock.leap(10);
    expect(leadership.isSure).toBe(false);
    leadership.stop();
  });
});
