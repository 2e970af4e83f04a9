import { describe, expect, it } from '@jest/globals';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { FairQueue } from './fair-queue.js';

const PATIENCE_MS = 100;

interface RunningRead {
  readonly name: string;
  readonly release: () => void;
}

/** A `large` read weighs 2, and a `huge` one more than a whole share. */
function weightOf(name: string): number {
  if (name.startsWith('huge')) return 5;
  return name.startsWith('large') ? 2 : 1;
}

/** Reads that end when the test ends them. */
class Reads {
  readonly started: string[] = [];
  private readonly running: RunningRead[] = [];
  private readonly queue = new FairQueue(
    { readsPerAccount: 2, readPatience: PATIENCE_MS },
    new SystemClock(),
  );

  send(account: string, ...names: readonly string[]): Promise<string[]> {
    return Promise.all(names.map((name) => this.queue.take(account, weightOf(name), () => this.run(name))));
  }

  async end(name: string): Promise<void> {
    this.running.find((running) => running.name === name)?.release();
    await settled();
  }

  fail(account: string): Promise<never> {
    return this.queue.take(account, 1, () => Promise.reject(new Error('no')));
  }

  private run(name: string): Promise<string> {
    this.started.push(name);
    return new Promise((resolve) => {
      this.running.push({
        name,
        release: () => {
          resolve(name);
        },
      });
    });
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('reads', () => {
  it('of one account wait for each other in order, but not for those of other accounts', async () => {
    const reads = new Reads();
    const all = reads.send('a', '1', '2', '3', '4');
    void reads.send('b', 'other');
    expect(reads.started).toEqual(['1', '2', 'other']);
    await reads.end('2');
    expect(reads.started).toEqual(['1', '2', 'other', '3']);
    await reads.end('1');
    await reads.end('3');
    await reads.end('4');
    expect(await all).toEqual(['1', '2', '3', '4']);
    void reads.send('a', '5', '6', '7');
    expect(reads.started.slice(5)).toEqual(['5', '6']);
  });

  it('that arrive while a waiting read starts queue after it', async () => {
    const reads = new Reads();
    void reads.send('a', '1', '2', '3');
    const ended = reads.end('1');
    void reads.send('a', '4');
    await ended;
    expect(reads.started).toEqual(['1', '2', '3']);
  });

  it('with a larger weight use more of the share, and are not overtaken', async () => {
    const reads = new Reads();
    void reads.send('a', '1', 'large', '2', 'huge', '3');
    expect(reads.started).toEqual(['1']);
    await reads.end('1');
    expect(reads.started).toEqual(['1', 'large']);
    await reads.end('large');
    expect(reads.started).toEqual(['1', 'large', '2']);
    await reads.end('2');
    expect(reads.started).toEqual(['1', 'large', '2', 'huge']);
    await reads.end('huge');
    expect(reads.started.at(-1)).toBe('3');
  });

  it('that fail release their share too', async () => {
    const reads = new Reads();
    void reads.send('a', '1');
    await expect(reads.fail('a')).rejects.toThrow('no');
    void reads.send('a', '2');
    expect(reads.started).toEqual(['1', '2']);
  });

  it('that run longer than the patience release their share, and only once', async () => {
    const reads = new Reads();
    const all = reads.send('a', '1', '2', '3', '4', '5');
    await new Promise((resolve) => setTimeout(resolve, PATIENCE_MS / 2));
    expect(reads.started).toEqual(['1', '2']);
    await new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
    expect(reads.started).toEqual(['1', '2', '3', '4']);
    await reads.end('1');
    expect(reads.started).toEqual(['1', '2', '3', '4']);
    await reads.end('4');
    expect(reads.started).toEqual(['1', '2', '3', '4', '5']);
    for (const name of ['2', '3', '5']) await reads.end(name);
    expect(await all).toHaveLength(5);
  });
});
