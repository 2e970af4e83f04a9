import { describe, expect, it } from '@jest/globals';
import { HandClock } from '../hand-clock.fixture.js';
import { LoginQueue, type LoginQueueLimits } from './login-queue.js';

const LIMITS: LoginQueueLimits = { atOnce: 1, perEmail: 2, perNetwork: 4, inAll: 6, patienceMillis: 1_000 };

/** A queue whose attempts end when the test ends them. Records the attempts that have started. */
class TestQueue {
  readonly clock = new HandClock(0);
  readonly started: string[] = [];
  private readonly ends: (() => void)[] = [];
  private readonly loginQueue: LoginQueue;

  constructor(limits: Partial<LoginQueueLimits> = {}) {
    this.loginQueue = new LoginQueue(this.clock, { ...LIMITS, ...limits });
  }

  attempt(name: string, network = 'here', email = name): Promise<unknown> {
    return this.loginQueue.run({ email, network }, () => {
      this.started.push(name);
      return new Promise((resolve) => this.ends.push(() => resolve(name)));
    });
  }

  /** Ends the oldest running attempt, and lets others start. */
  async next(): Promise<void> {
    await settled();
    this.ends.shift()?.();
    await settled();
  }
}

async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe('the queue of logins', () => {
  it('runs a limited number at a time, and the others in order', async () => {
    const queue = new TestQueue({ atOnce: 2 });
    const answers = ['a', 'b', 'c', 'd'].map((name) => queue.attempt(name));
    await settled();
    expect(queue.started).toEqual(['a', 'b']);
    await queue.next();
    expect(queue.started).toEqual(['a', 'b', 'c']);
    for (let left = 0; left < 3; left += 1) await queue.next();
    expect(await Promise.all(answers)).toEqual(['a', 'b', 'c', 'd'].map((result) => ({ result })));
  });

  it('lets networks take turns, also if one of them makes many attempts', async () => {
    const queue = new TestQueue();
    for (const name of ['flood-1', 'flood-2', 'flood-3', 'flood-4']) void queue.attempt(name, 'there');
    void queue.attempt('ours-1', 'here');
    void queue.attempt('ours-2', 'here');
    for (let ended = 0; ended < 6; ended += 1) await queue.next();
    expect(queue.started).toEqual(['flood-1', 'flood-2', 'ours-1', 'flood-3', 'ours-2', 'flood-4']);
  });

  it('refuses attempts beyond the share of an address or a network, and frees the share at the end', async () => {
    const queue = new TestQueue();
    const first = [queue.attempt('a', 'one', 'me'), queue.attempt('b', 'two', 'me')];
    expect(await queue.attempt('c', 'three', 'me')).toBe('share');
    for (let ended = 0; ended < 2; ended += 1) await queue.next();
    await Promise.all(first);
    const second = ['d', 'e', 'f', 'g'].map((name) => queue.attempt(name));
    expect(await queue.attempt('h')).toBe('share');
    for (let ended = 0; ended < 4; ended += 1) await queue.next();
    await Promise.all(second);
    const third = queue.attempt('i', 'here', 'me');
    await queue.next();
    expect(await third).toEqual({ result: 'i' });
  });

  it('refuses all attempts while it is full', async () => {
    const queue = new TestQueue();
    for (let number = 0; number < 6; number += 1) void queue.attempt(`n${number}`, `network-${number}`);
    expect(await queue.attempt('late', 'elsewhere')).toBe('full');
    expect(queue.started).toEqual(['n0']);
  });

  it('refuses an attempt that has waited too long, and never starts it', async () => {
    const queue = new TestQueue();
    const first = queue.attempt('first');
    const second = queue.attempt('second');
    await settled();
    queue.clock.pass(1_000);
    expect(await second).toBe('late');
    const third = queue.attempt('third');
    await queue.next();
    await queue.next();
    expect(await Promise.all([first, third])).toEqual([{ result: 'first' }, { result: 'third' }]);
    expect(queue.started).toEqual(['first', 'third']);
  });

  it('frees its slot when the work fails', async () => {
    const queue = new LoginQueue(new HandClock(0), LIMITS);
    const subject = { email: 'a', network: 'b' };
    for (let count = 0; count < 10; count += 1) {
      await expect(queue.run(subject, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    }
    expect(await queue.run(subject, () => Promise.resolve('next'))).toEqual({ result: 'next' });
  });
});
