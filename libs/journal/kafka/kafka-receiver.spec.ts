import { expect, it } from '@jest/globals';
import { MemoryTopic } from '#libs/testing/kafka/memory-topic.js';
import { beforeFirst, linkEpoch, linkEvent } from '../hash-chain.js';
import { JournalCorrupt, JournalUnreadable } from '../journal-errors.js';
import { KafkaReceiver } from './kafka-receiver.js';
import type { TopicLog } from './topic-log.js';

it('leaves no connection open to a topic that cannot be read', async () => {
  let open = 0;
  const away = (): Promise<never> => Promise.reject(new JournalUnreadable('the topic holds no journal'));
  const log: TopicLog = {
    append: away,
    end: away,
    fetch: away,
    close: () => {
      open -= 1;
      return Promise.resolve();
    },
  };
  const receiver = new KafkaReceiver('auction', () => {
    open += 1;
    return Promise.resolve(log);
  });
  await expect(receiver.head(0)).rejects.toThrow('no journal');
  expect(open).toBe(0);
  await receiver.close();
  expect(open).toBe(0);
});

it('reports that the beginning of its topic is gone, and not that a broker is away', async () => {
  const topic = new MemoryTopic();
  const receiver = new KafkaReceiver('auction', () => Promise.resolve(topic.open()));
  const first = linkEpoch(0, beforeFirst('auction'), 1, 'ada');
  await receiver.receive(0, [first]);
  topic.deleteBefore(1);
  const failure = await receiver.receive(0, [linkEvent(0, first, '"a"')]).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(JournalCorrupt);
  expect(failure).toMatchObject({ reason: expect.stringContaining('its first 1 messages are gone') });
  await receiver.close();
});
