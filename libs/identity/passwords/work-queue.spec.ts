import { describe, expect, it } from '@jest/globals';
import { WorkQueue } from './work-queue.js';

function gate(): { readonly opened: Promise<void>; open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe('a work queue', () => {
  it('runs so many at a time and the others in order', async () => {
    const queue = new WorkQueue(2, 10);
    const gates = [gate(), gate(), gate(), gate()];
    const started: number[] = [];
    const all = gates.map(({ opened }, number) =>
      queue.run(() => {
        started.push(number);
        return opened.then(() => number);
      }),
    );
    expect(started).toEqual([0, 1]);
    gates[1]!.open();
    await all[1];
    expect(started).toEqual([0, 1, 2]);
    gates.forEach(({ open }) => open());
    expect(await Promise.all(all)).toEqual([{ result: 0 }, { result: 1 }, { result: 2 }, { result: 3 }]);
    expect(started).toEqual([0, 1, 2, 3]);
  });

  it('turns away what finds too many waiting, without doing any of it', async () => {
    const queue = new WorkQueue(1, 1);
    const first = gate();
    const running = queue.run(() => first.opened);
    const waiting = queue.run(() => Promise.resolve('second'));
    let ran = false;
    const turnedAway = await queue.run(() => {
      ran = true;
      return Promise.resolve();
    });
    expect(turnedAway).toBeUndefined();
    expect(ran).toBe(false);
    first.open();
    await running;
    expect(await waiting).toEqual({ result: 'second' });
  });

  it('gives its place back when the work fails', async () => {
    const queue = new WorkQueue(1, 0);
    await expect(queue.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await queue.run(() => Promise.resolve('next'))).toEqual({ result: 'next' });
  });
});
