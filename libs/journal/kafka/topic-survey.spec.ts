import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { JournalWorld, SHARD } from '#libs/testing/kafka/journal-world.js';
import type { SendFate } from '#libs/testing/kafka/memory-topic.js';
import { linkEvent } from '../hash-chain.js';
import { JournalAmbiguous, JournalCorrupt } from '../journal-errors.js';
import { encodeRecord } from './record-format.js';
import { surveyTopic, type TopicSurvey } from './topic-survey.js';

let world: JournalWorld;

beforeEach(() => {
  world = new JournalWorld();
});
afterEach(() => world.close());

function survey(): Promise<TopicSurvey> {
  return surveyTopic({ family: 'auction', shard: SHARD }, world.topic.open());
}

it('counts repeats and late records apart from records that count', async () => {
  const old = await world.open();
  world.topic.expect('late');
  await old.append(['"a"', '"b"']);
  world.topic.release();
  world.topic.expect('late', ...Array<SendFate>(9).fill('lost before'));
  await expect(old.append(['"nowhere"'])).rejects.toBeInstanceOf(JournalAmbiguous);
  world.topic.calm();
  const successor = await world.open();
  world.topic.release();
  await successor.append(['"c"']);
  expect(await survey()).toEqual({ messages: 8, records: 5, late: 1, doubled: 2 });
});

it('reports a repeat with other content as damage: two writers in one epoch', async () => {
  const writer = await world.open();
  const { head } = writer;
  await writer.append(['"a"']);
  await world.topic.open().append([encodeRecord(linkEvent(SHARD, head, '"b"'), undefined)], 1_000);
  const failure = survey();
  await expect(failure).rejects.toBeInstanceOf(JournalCorrupt);
  await expect(failure).rejects.toMatchObject({
    shard: SHARD,
    message: expect.stringContaining('offset 2 of its topic holds another record 2 of epoch 1'),
  });
});
