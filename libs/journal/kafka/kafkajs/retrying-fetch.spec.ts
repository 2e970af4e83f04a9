import { describe, expect, it } from '@jest/globals';
import { HastyClock } from '#libs/testing/kafka/hasty-clock.js';
import type { LogMessage } from '../topic-log.js';
import { RetryingFetch, type Look } from './retrying-fetch.js';

const OFFSET = 7;
const DOUBT: Look = { doubt: 'it gives none' };
const GIVEN: Look = { messages: [{ offset: OFFSET, value: Buffer.from('a') }] };
const NOTHING: Look = { messages: [] };
const DAMAGED = {
  name: 'MessagesDamaged',
  message: 'offset 7 of its topic cannot be read: it gives none',
};

/** A leader with the given replies, in order, and its reader. */
function reader(...answers: (Look | Error)[]): { ask: () => Promise<readonly LogMessage[]>; left: Look[] } {
  const looks = new RetryingFetch(new HastyClock());
  const ask = () =>
    looks.messages(OFFSET, () => {
      const answer = answers.shift();
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer ?? DOUBT);
    });
  return { ask, left: answers as Look[] };
}

describe('a leader that claims messages and returns none', () => {
  it('counts as damaged after the fourth time, and at once from then on', async () => {
    const { ask, left } = reader(DOUBT, DOUBT, DOUBT, DOUBT, DOUBT, GIVEN);
    await expect(ask()).rejects.toMatchObject(DAMAGED);
    expect(left).toHaveLength(2);
    await expect(ask()).rejects.toMatchObject(DAMAGED);
    expect(left).toHaveLength(1);
  });

  it.each<[string, Look, number]>([
    ['returns them the next time', GIVEN, 1],
    ['no longer claims them, like a new leader', NOTHING, 0],
  ])('does not count as damaged if it %s', async (_, next, messages) => {
    expect(await reader(DOUBT, DOUBT, DOUBT, next).ask()).toHaveLength(messages);
  });

  it('does not count as damaged if it becomes unreachable: then its state is unknown', async () => {
    await expect(reader(DOUBT, DOUBT, DOUBT, new Error('no answer within 5000 ms')).ask()).rejects.toThrow(
      'no answer within 5000 ms',
    );
  });

  it('gets retries again once a healthy leader takes over', async () => {
    const { ask, left } = reader(DOUBT, DOUBT, DOUBT, DOUBT, GIVEN, DOUBT, GIVEN);
    await expect(ask()).rejects.toMatchObject(DAMAGED);
    expect(await ask()).toHaveLength(1);
    expect(await ask()).toHaveLength(1);
    expect(left).toEqual([]);
  });
});
