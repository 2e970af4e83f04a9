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

/** Lets time pass in timer ticks, as in a process that is not suspended. */
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

  it('asks once for all waiting callers, and is sure again', async () => {
    live(6_000);
    const waiting = [leadership.isProven(), leadership.isProven()];
    questions[0]!.resolve();
    expect(await Promise.all(waiting)).toEqual([true, true]);
    expect(questions).toHaveLength(1);
    expect(leadership.isSure).toBe(true);
  });

  it('accepts only proofs that began at the given moment or later, and asks again if the current one began earlier', async () => {
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

  it('has no proof since a moment if none comes in time, even if it is sure otherwise', async () => {
    live(1_000);
    const proven = leadership.isProvenSince(clock.monotonicNanos());
    expect(leadership.isSure).toBe(true);
    clock.leap(2_100);
    expect(await proven).toBe(false);
  });

  it('is sure of nothing after a standstill, however fresh its last proof is', async () => {
    leadership.proven(clock.monotonicNanos());
    clock.leap(600);
    expect(leadership.isSure).toBe(false);
    const proven = leadership.isProven();
    questions[0]!.resolve();
    expect(await proven).toBe(true);
  });

  it('does not accept a proof that began before a standstill', async () => {
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

  it('may not answer if another process owns the shard, or the journal does not answer', async () => {
    live(6_000);
    const refused = leadership.isProven();
    questions[0]!.reject(new Error('fenced'));
    expect(await refused).toBe(false);
    const unanswered = leadership.isProven();
    clock.leap(2_100);
    expect(await unanswered).toBe(false);
  });

  it('notices a standstill by itself', () => {
    leadership.start();
    clock.leap(600);
    clock.leap(10);
    expect(leadership.isSure).toBe(false);
    leadership.stop();
  });
});
