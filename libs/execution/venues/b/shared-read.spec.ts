import { expect, it } from '@jest/globals';
import { SharedRead } from './shared-read.js';

it('callers that ask during a read share the next read, even if the first one fails', async () => {
  const begun: PromiseWithResolvers<number>[] = [];
  const shared = new SharedRead(() => {
    const read = Promise.withResolvers<number>();
    begun.push(read);
    return read.promise;
  });
  const first = shared.ask();
  const [second, third] = [shared.ask(), shared.ask()];
  expect(begun).toHaveLength(1);
  begun[0]?.reject(new Error('unreadable'));
  await expect(first).rejects.toThrow('unreadable');
  await new Promise(setImmediate);
  expect(begun).toHaveLength(2);
  const fourth = shared.ask();
  begun[1]?.resolve(7);
  expect(await Promise.all([second, third])).toEqual([7, 7]);
  await new Promise(setImmediate);
  expect(begun).toHaveLength(3);
  begun[2]?.resolve(8);
  expect(await fourth).toBe(8);
  const fifth = shared.ask();
  expect(begun).toHaveLength(4);
  begun[3]?.resolve(9);
  expect(await fifth).toBe(9);
});
