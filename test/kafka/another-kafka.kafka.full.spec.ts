import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { EXIT } from '#libs/platform/process/start-fault.js';
import { JournalFailure } from '#libs/journal/journal-errors.js';
import { KafkaJournal } from '#libs/journal/kafka/kafka-journal.js';
import { kafkaSettings } from '#libs/journal/kafka/kafka-settings.js';
import { KafkaCluster } from '#libs/journal/kafka/kafkajs/kafka-cluster.js';
import { KafkajsTopics } from '#libs/journal/kafka/kafkajs/kafkajs-topics.js';
import { loadConfig } from '#libs/platform/settings/config.js';
import { KeptJournals } from '#libs/testing/kafka/kept-journals.js';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';

jest.setTimeout(120_000);

const SHARD = 0;
const clock = new SystemClock();

describeWithKafka('brokers of another Kafka among the right ones', {}, (kafka) => {
  describeWithKafka('with the same topics', {}, (other) => {
    let journals: KeptJournals;
    beforeEach(async () => {
      journals = await KeptJournals.begin(kafka(), [SHARD]);
    });
    afterEach(() => journals.dispose());

    const strangeTopics = () =>
      new KafkajsTopics(
        { brokers: other().addresses, clientId: 'test' },
        { prefix: journals.prefix, family: 'auction' },
        clock,
      );
    /** Byte for byte the content of the right one. */
    const copyThere = async (): Promise<void> => {
      const log = await strangeTopics().prepare(SHARD);
      const messages = await journals.content(SHARD);
      const seals = messages.flatMap(({ seal }, at) => (seal === undefined ? [] : [[at, seal] as const]));
      await log.append(
        messages.map(({ value }) => value),
        5_000,
        new Map(seals),
      );
      await log.close();
    };
    const settings = (...addresses: readonly string[]) =>
      loadConfig(kafkaSettings, {
        KAFKA_BROKERS: addresses.join(','),
        KAFKA_TOPIC_PREFIX: journals.prefix,
      });
    const strangeFirst = () => settings(...other().addresses, ...kafka().addresses);
    const strangeAlone = () => settings(...other().addresses);

    it('are ignored, and reported once', async () => {
      await journals.write('"a"');
      await copyThere();
      const told: string[] = [];
      const store = await journals.store({ settings: strangeFirst(), tell: (line) => told.push(line) });
      const owner = await journals.owner(SHARD, store);
      await owner.append(['"b"']);
      expect(await store.reader.heads()).toEqual(new Map([[SHARD, 4]]));
      expect(await journals.content(SHARD)).toHaveLength(4);
      expect(await journals.content(SHARD, strangeTopics())).toHaveLength(2);
      const [right, wrong] = [await journals.topics.clusterId(), await strangeTopics().clusterId()];
      expect(told).toEqual([
        `broker ${other().addresses[0]} belongs to Kafka cluster ${wrong}, and the journals are in ${right}: it is ignored`,
      ]);
    });

    it('are refused for reading, and for a first start, if they are the only ones', async () => {
      await journals.write('"a"');
      await copyThere();
      const store = await journals.store({ settings: strangeAlone() });
      const refusal = { exitCode: EXIT.config, message: expect.stringContaining('are those of another') };
      await expect(store.prepare()).rejects.toMatchObject(refusal);
      await expect(journals.owner(SHARD, store)).rejects.toMatchObject(refusal);
      for (const reader of [store.reader, store.bareReader]) {
        await expect(reader.heads()).rejects.toMatchObject({
          name: 'JournalUnreadable',
          message: expect.stringContaining('belongs to Kafka cluster'),
        });
      }
    });

    it('are fewer brokers than addresses: a first start reports both numbers', async () => {
      const brokers = [...kafka().addresses, '127.0.0.1:1'];
      const topics = new KafkajsTopics(
        { brokers, clientId: 'test' },
        { prefix: journals.prefix, family: 'auction' },
        clock,
      );
      const refusal = {
        exitCode: EXIT.unavailable,
        message: expect.stringContaining(
          'needs 2 copies, but only 1 of the brokers can hold one: KAFKA_BROKERS names 2',
        ),
      };
      await expect(topics.prepare(SHARD)).rejects.toMatchObject(refusal);
      await expect(topics.isThereAndFit(SHARD)).rejects.toMatchObject(refusal);
      expect(await journals.topics.exists(SHARD)).toBe(false);
    });

    it('do not count as brokers that could take a copy, whatever their position in the list', async () => {
      for (const brokers of [
        [...kafka().addresses, ...other().addresses],
        [...other().addresses, ...kafka().addresses],
      ]) {
        const settled = { settled: () => journals.topics.clusterId() };
        const address = { brokers, clientId: 'test' };
        const topics = new KafkajsTopics(
          address,
          { prefix: journals.prefix, family: 'auction' },
          clock,
          new KafkaCluster(settled),
        );
        await (await topics.prepare(SHARD)).close();
        expect(await topics.isThereAndFit(SHARD)).toBe(true);
      }
    });

    // Last, because the right broker is gone afterwards.
    it('get nothing from a running writer after the right ones are gone', async () => {
      const addresses = [...kafka().addresses, ...other().addresses];
      const topics = new KafkajsTopics(
        { brokers: addresses, clientId: 'test' },
        { prefix: journals.prefix, family: 'auction' },
        clock,
      );
      const writer = await new KafkaJournal({
        family: 'auction',
        openLog: async (shard) => {
          await (await journals.topics.prepare(shard)).close();
          return topics.open(shard);
        },
        clock,
        opener: 'owner',
        appendWithinMillis: 1_000,
        settleWithinMillis: 3_000,
      }).open(SHARD);
      await writer.append(['"a"']);
      await copyThere();
      kafka().own!.brokers[0]!.signal('SIGKILL');
      await expect(writer.append(['"b"'])).rejects.toBeInstanceOf(JournalFailure);
      await writer.close();
      expect(await journals.content(SHARD, strangeTopics())).toHaveLength(2);
      await expect(topics.clusterId()).rejects.toMatchObject({ exitCode: EXIT.unavailable });
    });
  });
});
