import type { BareReader } from '../../journal/journal.js';
import { KafkaJournal } from '../../journal/kafka/kafka-journal.js';
import { KafkaJournalReader } from '../../journal/kafka/kafka-reader.js';
import { HastyClock } from './hasty-clock.js';
import { MemoryTopic } from './memory-topic.js';

/** Topics in memory, one for each shard from 0 on, with an epoch record and this number of events. */
export class MemoryShards {
  private constructor(
    readonly shards: readonly number[],
    readonly topics: readonly MemoryTopic[],
  ) {}

  static async of(shards: readonly number[], events: number): Promise<MemoryShards> {
    const topics = shards.map(() => new MemoryTopic());
    for (const [shard, topic] of topics.entries()) {
      const openLog = () => Promise.resolve(topic.open());
      const writer = await new KafkaJournal({
        family: 'auction',
        openLog,
        clock: new HastyClock(),
        opener: 'test',
      }).open(shard);
      await writer.append(Array.from({ length: events }, (_, index) => `"${index}"`));
      await writer.close();
    }
    return new MemoryShards(shards, topics);
  }

  reader(): BareReader {
    return new KafkaJournalReader({
      family: 'auction',
      openLog: (shard) => this.topic(shard).open(),
      shards: this.shards,
    });
  }

  topic(shard: number): MemoryTopic {
    const topic = this.topics[shard];
    if (topic === undefined) throw new RangeError(`there is no shard ${shard}`);
    return topic;
  }
}
