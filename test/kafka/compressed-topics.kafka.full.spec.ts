import { expect, it, jest } from '@jest/globals';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import { events } from '#libs/testing/contracts/journal-subject.js';
import { alter, journalAt, readerAt } from './access.js';

jest.setTimeout(60_000);

const SHARD = 1;

describeWithKafka('a topic with a batch that its brokers compressed', { anyBrokers: true }, (kafka) => {
  it('is not opened, and the error names the setting; what comes before the batch is shown', async () => {
    const writer = await journalAt(kafka()).open(SHARD);
    await writer.append(['"plain"']);
    await alter(kafka(), SHARD, { 'compression.type': 'gzip' });
    await writer.append(['"compressed"']).catch(() => undefined);
    await writer.close();
    await alter(kafka(), SHARD, {});
    const refusal = { message: expect.stringContaining('set compression.type=producer on the topic') };
    await expect(journalAt(kafka()).open(SHARD)).rejects.toMatchObject(refusal);
    await expect(events(readerAt(kafka()), SHARD)).rejects.toMatchObject(refusal);
  });
});
