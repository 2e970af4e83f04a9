import { expect, it } from '@jest/globals';
import { JournalUnreadable } from '../journal-errors.js';
import { KafkaReceiver } from './kafka-receiver.js';
import type { TopicLog } from './topic-log.js';

it('leaves no connection open to a topic that cannot be looked through', async () => {
  let open = 0;
  const away = (): Promise<never> => Promise.reject(new JournalUnreadable('what is there is no journal'));
  const log: TopicLog = {
    append: away,
    end: away,
    fetch: away,
    close: () => {
      open -= 1;
      return Promise.resolve();
    },
  };
  const receiver = new KafkaReceiver(() => {
    open += 1;
    return Promise.resolve(log);
  });
  await expect(receiver.head(0)).rejects.toThrow('no journal');
  expect(open).toBe(0);
  await receiver.close();
  expect(open).toBe(0);
});
