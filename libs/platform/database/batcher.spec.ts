import { describe, expect, it } from '@jest/globals';
import { Batcher } from './batcher.js';

function held(): {
  asked: number[][];
  answerNext: (failure?: Error) => void;
  batcher: Batcher<number, string>;
} {
  const asked: number[][] = [];
  const ends: ((failure?: Error) => void)[] = [];
  const batcher = new Batcher<number, string>((questions) => {
    asked.push([...questions]);
    return new Promise((resolve, reject) => {
      ends.push((failure) => {
        if (failure === undefined) resolve(questions.map((question) => `of ${question}`));
        else reject(failure);
      });
    });
  }, 3);
  return { asked, batcher, answerNext: (failure) => ends.shift()?.(failure) };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('batched questions', () => {
  it('of one turn leave together; later ones wait for the reply, and leave in bounded batches', async () => {
    const { asked, batcher, answerNext } = held();
    const answers = [1, 2].map((question) => batcher.answer(question));
    await settle();
    answers.push(...[3, 4, 5, 6].map((question) => batcher.answer(question)));
    await settle();
    expect(asked).toEqual([[1, 2]]);
    for (const batch of [[3, 4, 5], [6]]) {
      answerNext();
      await settle();
      expect(asked.at(-1)).toEqual(batch);
    }
    answerNext();
    expect(await Promise.all(answers)).toEqual(['of 1', 'of 2', 'of 3', 'of 4', 'of 5', 'of 6']);
    const later = batcher.answer(7);
    await settle();
    answerNext();
    expect(await later).toBe('of 7');
  });

  it('fail together, and singly', async () => {
    const { batcher, answerNext } = held();
    const first = batcher.answer(1).catch((error: unknown) => error);
    await settle();
    const second = batcher.answer(2);
    answerNext(new Error('gone'));
    expect(await first).toEqual(new Error('gone'));
    await settle();
    answerNext();
    expect(await second).toBe('of 2');
  });
});
