import { describe, expect, it } from '@jest/globals';
import { HandClock } from '../hand-clock.fixture.js';
import { LoginQueue, type LoginQueueLimits } from './login-queue.js';

const LIMITS: LoginQueueLimits = { atOnce: 1, perEmail: 2, perNetwork: 4, inAll: 6, patienceMillis: 1_000 };

/** A queue whose attempts end when the test says so; records which have begun. */
class Door {
  readonly clock = new HandClock(0);
  readonly begun: string[] = [];
  private readonly ends: (() => void)[] = [];
  private readonly queue: LoginQueue;

  constructor(limits: Partial<LoginQueueLimits> = {}) {
    this.queue = new LoginQueue(this.clock, { ...LIMITS, ...limits });
  }

  knock(name: string, network = 'here', email = name): Promise<unknown> {
    return this.queue.run({ email, network }, () => {
      this.begun.push(name);
      return new Promise((resolve) => this.ends.push(() => resolve(name)));
    });
  }

  /** Ends the next begun attempt, and runs everything that follows. */
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
    const door = new Door({ atOnce: 2 });
    const answers = ['a', 'b', 'c', 'd'].map((name) => door.knock(name));
    await settled();
    expect(door.begun).toEqual(['a', 'b']);
    await door.next();
    expect(door.begun).toEqual(['a', 'b', 'c']);
    for (let left = 0; left < 3; left += 1) await door.next();
    expect(await Promise.all(answers)).toEqual(['a', 'b', 'c', 'd'].map((result) => ({ result })));
  });

  it('lets networks take turns, however many attempts one of them makes', async () => {
    const door = new Door();
    for (const name of ['flood-1', 'flood-2', 'flood-3', 'flood-4']) void door.knock(name, 'there');
    void door.knock('ours-1', 'here');
    void door.knock('ours-2', 'here');
    for (let ended = 0; ended < 6; ended += 1) await door.next();
    expect(door.begun).toEqual(['flood-1', 'flood-2', 'ours-1', 'flood-3', 'ours-2', 'flood-4']);
  });

  it('refuses attempts beyond the share of an e-mail address or of a network, and returns the share', async () => {
    const door = new Door();
    const first = [door.knock('a', 'one', 'me'), door.knock('b', 'two', 'me')];
    expect(await door.knock('c', 'three', 'me')).toBe('share');
    for (let ended = 0; ended < 2; ended += 1) await door.next();
    await Promise.all(first);
    const second = ['d', 'e', 'f', 'g'].map((name) => door.knock(name));
    expect(await door.knock('h')).toBe('share');
    for (let ended = 0; ended < 4; ended += 1) await door.next();
    await Promise.all(second);
    const third = door.knock('i', 'here', 'me');
    await door.next();
    expect(await third).toEqual({ result: 'i' });
  });

  it('refuses attempts while it is full', async () => {
    const door = new Door();
    for (let number = 0; number < 6; number += 1) void door.knock(`n${number}`, `network-${number}`);
    expect(await door.knock('late', 'elsewhere')).toBe('full');
    expect(door.begun).toEqual(['n0']);
  });

  it('refuses an attempt that has waited too long, and never begins its work', async () => {
    const door = new Door();
    const first = door.knock('first');
    const second = door.knock('second');
    await settled();
    door.clock.pass(1_000);
    expect(await second).toBe('late');
    const third = door.knock('third');
    await door.next();
    await door.next();
    expect(await Promise.all([first, third])).toEqual([{ result: 'first' }, { result: 'third' }]);
    expect(door.begun).toEqual(['first', 'third']);
  });

  it('frees its slot when the work fails', async () => {
    const queue = new LoginQueue(new HandClock(0), LIMITS);
    const by = { email: 'a', network: 'b' };
    for (let count = 0; count < 10; count += 1) {
      await expect(queue.run(by, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    }
    expect(await queue.run(by, () => Promise.resolve('next'))).toEqual({ result: 'next' });
  });
});
