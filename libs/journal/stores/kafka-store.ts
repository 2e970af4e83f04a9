import { BoundWriter } from '../backend/bound-writer.js';
import { JournalBackend, type KafkaBackend } from '../backend/journal-backend.js';
import { JournalLock } from '../backend/journal-lock.js';
import type { Journal, JournalReader } from '../journal.js';
import type { JournalFamily } from '../journal-id.js';
import { KafkaJournalReader, orUnreadable } from '../kafka/kafka-reader.js';
import { KafkaReceiver } from '../kafka/kafka-receiver.js';
import type { KafkaAddress } from '../kafka/kafkajs/kafka-address.js';
import { KafkaCluster } from '../kafka/kafkajs/kafka-cluster.js';
import { KafkajsTopics } from '../kafka/kafkajs/kafkajs-topics.js';
import type { Surplus } from '../restored/restored-check.js';
import { RestoredMark } from '../restored/restored-mark.js';
import { surveyTopic, type TopicSurvey } from '../kafka/topic-survey.js';
import { type Checkpoint, CheckpointTable } from '../checkpoint/checkpoint-table.js';
import { CheckpointedReader } from '../checkpoint/checkpointed-reader.js';
import { type JournalReceiver, type JournalStore, sealsOf, type StorePorts } from './journal-store.js';
import { untilSettled } from './until-settled.js';
import { CheckpointedTopics, type Opener } from './checkpointed-topics.js';

/** Journals in Kafka, one topic a shard. */
export class KafkaStore implements JournalStore {
  readonly kind = 'kafka';
  readonly reader: JournalReader;
  readonly bareReader: KafkaJournalReader;
  private readonly family: JournalFamily;
  private readonly topics: KafkajsTopics;
  private readonly checkpoints: CheckpointTable;
  private readonly checkedTopics: CheckpointedTopics;
  private readonly lock: JournalLock;

  constructor(
    private readonly ports: StorePorts,
    address: KafkaAddress,
    private readonly topicPrefix: string,
  ) {
    const { family, databaseUrl, pool, clock, shards, tell } = ports;
    this.family = family;

    const cluster = new KafkaCluster({ settled: () => new JournalBackend(pool, family).clusterId(), tell });
    const topics = new KafkajsTopics(address, { prefix: topicPrefix, family }, clock, cluster);
    const reader = new KafkaJournalReader({ family, openLog: (shard) => topics.open(shard), shards });
    this.topics = topics;
    this.bareReader = reader;
    this.checkpoints = new CheckpointTable(pool, family);
    this.checkedTopics = new CheckpointedTopics({
      family,
      topics,
      reader,
      pool,
      clock,
      checkpoints: this.checkpoints,
    });
    this.reader = new CheckpointedReader(reader, shards, (shard) => this.checkedTopics.checkToShow(shard));
    this.lock = new JournalLock(databaseUrl, clock);
  }

  journalOf(opener: string, onFault: (error: unknown) => void = () => undefined): Journal {
    return {
      open: async (shard) => {
        const identity = this.as(opener);
        await this.lock.share(async () =>
          new JournalBackend(this.ports.pool, this.family).check(await this.backend()),
        );
        return await untilSettled(this.ports, async () => {
          await this.prepareShards([shard]);
          const expected = await this.backend();
          const stillHere = (): Promise<void> => this.checkHeld(expected);
          const writer = await this.checkedTopics.open(shard, { ...identity, stillHere }, onFault);
          return new BoundWriter(writer, this.lock);
        });
      },
    };
  }

  journalOfMover(opener: string): Journal {
    return {
      open: async (shard) => {
        const identity = this.as(opener);
        await new RestoredMark(this.ports.pool, this.family).refuse();
        await this.checkedTopics.have([shard]);
        return await this.checkedTopics.open(shard, identity, () => undefined);
      },
    };
  }

  prepare(): Promise<void> {
    return untilSettled(this.ports, () => this.prepareShards(this.ports.shards));
  }

  async checkFit(): Promise<void> {
    for (const shard of this.ports.shards) await this.topics.isThereAndFit(shard);
  }

  refuseLost(): Promise<void> {
    return this.checkedTopics.refuseLost(this.ports.shards);
  }

  async backend(): Promise<KafkaBackend> {
    return { clusterId: await this.topics.clusterId(), topicPrefix: this.topicPrefix };
  }

  async remember(shard: number, head: Checkpoint): Promise<void> {
    await this.checkpoints.advance(shard, head);
  }

  receiver(): JournalReceiver {
    return new KafkaReceiver(this.family, (shard) => this.topics.prepare(shard));
  }

  async surplus(): Promise<readonly Surplus[]> {
    await new JournalBackend(this.ports.pool, this.family).check(await this.backend());
    return await this.checkedTopics.surplus();
  }

  async survey(shard: number): Promise<TopicSurvey> {
    const log = this.topics.open(shard);
    try {
      return await orUnreadable(shard, () => surveyTopic({ family: this.family, shard }, log));
    } finally {
      await log.close();
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.bareReader.close(), this.lock.letGo()]);
  }

  private as(opener: string): Opener {
    return { opener, seals: sealsOf(this.ports) };
  }

  /** In this order: while the lock is held the journals are not moved, so the backend stays the same until the lock is lost. */
  private async checkHeld(expected: KafkaBackend): Promise<void> {
    await this.lock.confirmShared();
    await new JournalBackend(this.ports.pool, this.family).check(expected);
  }

  /** Settles the backend last: a refused start settles nothing, and the topics exist before. */
  private async prepareShards(shards: readonly number[]): Promise<void> {
    const { pool } = this.ports;
    const expected = await this.backend();
    await new JournalBackend(pool, this.family).check(expected);
    await this.checkedTopics.checkRestored();
    await this.checkedTopics.have(shards);
    await JournalBackend.settle(pool, this.family, expected);
  }
}
