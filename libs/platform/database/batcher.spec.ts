import { describe, expect, it } from '@jest/globals';
import { Batcher } from './batcher.js';

function controlledBatcher(): {
  batches: number[][];
  replyNext: (failure?: Error) => void;
  batcher: Batcher<number, string>;
} {
  const batches: number[][] = [];
  const ends: ((failure?: Error) => void)[] = [];
  const batcher = new Batcher<number, string>((questions) => {
    batches.push([...questions]);
    return new Promise((resolve, reject) => {
      ends.push((failure) => {
        if (failure === undefined) resolve(questions.map((question) => `of ${question}`));
        else reject(failure);
      });
    });
  }, 3);
  return { batches, batcher, replyNext: (failure) => ends.shift()?.(failure) };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('batched questions', () => {
  it('of one turn are sent together; later ones wait for the reply and go in bounded batches', async () => {
    const { batches, batcher, replyNext } = controlledBatcher();
    const answers = [1, 2].map((question) => batcher.answer(question));
    await settled();
    answers.push(...[3, 4, 5, 6].map((question) => batcher.answer(question)));
    await settled();
    expect(batches).toEqual([[1, 2]]);
    for (const batch of [[3, 4, 5], [6]]) {
      replyNext();
      await settled();
      expect(batches.at(-1)).toEqual(batch);
    }
    replyNext();
    expect(await Promise.all(answers)).toEqual(['of 1', 'of 2', 'of 3', 'of 4', 'of 5', 'of 6']);
    const later = batcher.answer(7);
    await settled();
    replyNext();
    expect(await later).toBe('of 7');
  });

  it('of a batch fail together; the next batch is not affected', async () => {
    const { batcher, replyNext } = controlledBatcher();
    const first = batcher.answer(1).catch((error: unknown) => error);
    await settled();
    const second = batcher.answer(2);
    replyNext(new Error('gone'));
    expect(await first).toEqual(new Error('gone'));
    await settled();
    replyNext();
    expect(await second).toBe('of 2');
  });
});
