import { describe, expect, it } from '@jest/globals';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { FairQueue } from './fair-queue.js';

const PATIENCE_MS = 100;

interface Held {
  readonly name: string;
  readonly release: () => void;
}

/** A `large` read weighs two, a `huge` one more than the whole share. */
function weightOf(name: string): number {
  if (name.startsWith('huge')) return 5;
  return name.startsWith('large') ? 2 : 1;
}

/** Reads that end when the test says so. */
class Reads {
  readonly begun: string[] = [];
  private readonly held: Held[] = [];
  private readonly turns = new FairQueue(
    { readsPerAccount: 2, readPatience: PATIENCE_MS },
    new SystemClock(),
  );

  send(account: string, ...names: readonly string[]): Promise<string[]> {
    return Promise.all(names.map((name) => this.turns.take(account, weightOf(name), () => this.work(name))));
  }

  async end(name: string): Promise<void> {
    this.held.find((held) => held.name === name)?.release();
    await settled();
  }

  fail(account: string): Promise<never> {
    return this.turns.take(account, 1, () => Promise.reject(new Error('no')));
  }

  private work(name: string): Promise<string> {
    this.begun.push(name);
    return new Promise((resolve) => {
      this.held.push({
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
  it('of one account wait for each other in order, and those of others do not', async () => {
    const reads = new Reads();
    const all = reads.send('a', '1', '2', '3', '4');
    void reads.send('b', 'other');
    expect(reads.begun).toEqual(['1', '2', 'other']);
    await reads.end('2');
    expect(reads.begun).toEqual(['1', '2', 'other', '3']);
    await reads.end('1');
    await reads.end('3');
    await reads.end('4');
    expect(await all).toEqual(['1', '2', '3', '4']);
    void reads.send('a', '5', '6', '7');
    expect(reads.begun.slice(5)).toEqual(['5', '6']);
  });

  it('that come while one is being started wait after it', async () => {
    const reads = new Reads();
    void reads.send('a', '1', '2', '3');
    const ended = reads.end('1');
    void reads.send('a', '4');
    await ended;
    expect(reads.begun).toEqual(['1', '2', '3']);
  });

  it('that weigh more leave less room, and are not overtaken', async () => {
    const reads = new Reads();
    void reads.send('a', '1', 'large', '2', 'huge', '3');
    expect(reads.begun).toEqual(['1']);
    await reads.end('1');
    expect(reads.begun).toEqual(['1', 'large']);
    await reads.end('large');
    expect(reads.begun).toEqual(['1', 'large', '2']);
    await reads.end('2');
    expect(reads.begun).toEqual(['1', 'large', '2', 'huge']);
    await reads.end('huge');
    expect(reads.begun.at(-1)).toBe('3');
  });

  it('that fail free their share too', async () => {
    const reads = new Reads();
    void reads.send('a', '1');
    await expect(reads.fail('a')).rejects.toThrow('no');
    void reads.send('a', '2');
    expect(reads.begun).toEqual(['1', '2']);
  });

  it('that wait for another system give up their share after a while, once', async () => {
    const reads = new Reads();
    const all = reads.send('a', '1', '2', '3', '4', '5');
    await new Promise((resolve) => setTimeout(resolve, PATIENCE_MS / 2));
    expect(reads.begun).toEqual(['1', '2']);
    await new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
    expect(reads.begun).toEqual(['1', '2', '3', '4']);
    await reads.end('1');
    expect(reads.begun).toEqual(['1', '2', '3', '4']);
    await reads.end('4');
    expect(reads.begun).toEqual(['1', '2', '3', '4', '5']);
    for (const name of ['2', '3', '5']) await reads.end(name);
    expect(await all).toHaveLength(5);
  });
});
