import { describe, expect, it } from '@jest/globals';
import { inTurn, type OpenedPart, type OpenPart } from './in-turn.js';
import { NextTurn } from './next-turn.js';
import { Turnstile } from './turnstile.js';

/** Runs everything that is ready to run. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('concurrent requests with the same key', () => {
  /** Each run completes when the test says so. */
  class Answers {
    begun = 0;
    private readonly open: ((fails: boolean) => void)[] = [];
    readonly work = (): Promise<number> => {
      this.begun += 1;
      const mine = this.begun;
      return new Promise((resolve, reject) => {
        this.open.push((fails) => (fails ? reject(new Error(`${mine}`)) : resolve(mine)));
      });
    };

    async end(fails = false): Promise<void> {
      this.open.shift()?.(fails);
      await settled();
    }
  }

  it('share a run that began after all of them asked', async () => {
    const answers = new Answers();
    const turns = new NextTurn<number>();
    const ask = (key = 'k'): Promise<number> => turns.ask(key, answers.work);
    const first = ask();
    const others = [ask(), ask(), ask()];
    const elsewhere = ask('other');
    expect(answers.begun).toBe(2);
    await answers.end();
    expect(await first).toBe(1);
    const later = ask();
    expect(answers.begun).toBe(3);
    await answers.end();
    await answers.end();
    expect([await elsewhere, ...(await Promise.all(others))]).toEqual([2, 3, 3, 3]);
    await answers.end();
    expect(await later).toBe(4);
    const afterwards = ask();
    await answers.end();
    expect(await afterwards).toBe(5);
  });

  it('do not see the failure of a run that they do not share', async () => {
    const answers = new Answers();
    const turns = new NextTurn<number>();
    const first = turns.ask('k', answers.work).catch(String);
    const second = turns.ask('k', answers.work);
    await answers.end(true);
    await answers.end();
    expect([await first, await second]).toEqual(['Error: 1', 2]);
  });
});

it('a concurrency limit runs so many tasks at once, others in order, and refuses more than it has room for', async () => {
  const limit = new Turnstile(2, 1);
  const inside: string[] = [];
  const leave: (() => void)[] = [];
  const pass = (name: string): Promise<string | undefined> =>
    limit.pass(async () => {
      inside.push(name);
      await new Promise<void>((resolve) => leave.push(resolve));
      if (name === 'b') throw new Error(name);
      return name;
    });
  const [a, b, c] = [pass('a'), pass('b').catch(String), pass('c')];
  expect(await pass('d')).toBeUndefined();
  expect(inside).toEqual(['a', 'b']);
  leave[1]?.();
  expect(await b).toBe('Error: b');
  await settled();
  expect(inside).toEqual(['a', 'b', 'c']);
  leave[0]?.();
  leave[2]?.();
  expect([await a, await c]).toEqual(['a', 'c']);
  const again = [pass('e'), pass('f')];
  expect(inside).toEqual(['a', 'b', 'c', 'e', 'f']);
  leave[3]?.();
  leave[4]?.();
  expect(await Promise.all(again)).toEqual(['e', 'f']);
});

describe('opening parts in advance', () => {
  class Parts {
    readonly opened: number[] = [];
    readonly closed: number[] = [];

    private async *rest(index: number): AsyncGenerator<string> {
      try {
        await settled();
        yield `${index}`;
        yield 'end';
      } finally {
        this.closed.push(index);
      }
    }

    all(count: number): OpenPart[] {
      return Array.from({ length: count }, (_, index) => async (): Promise<OpenedPart> => {
        this.opened.push(index);
        await settled();
        const rest = this.rest(index);
        await rest.next();
        return { hasFailed: false, text: `${index}`, rest };
      });
    }
  }

  it('opens the given number of parts ahead of the one that is read, and no more', async () => {
    const parts = new Parts();
    const turn = inTurn(parts.all(9), 4);
    expect(parts.opened).toEqual([]);
    const texts: string[] = [];
    for await (const { text } of turn) {
      texts.push(text);
      await settled();
      expect(parts.opened).toHaveLength(Math.min(9, texts.length + 3));
    }
    expect(texts).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8']);
  });

  it('closes all opened parts when the reader stops', async () => {
    const parts = new Parts();
    const turn = inTurn(parts.all(9), 4);
    await turn.next();
    await turn.next();
    await turn.return(undefined);
    expect(parts.opened).toEqual([0, 1, 2, 3, 4]);
    expect([...parts.closed].sort()).toEqual([1, 2, 3, 4]);
  });
});
