import type { Pool } from 'pg';
import type { Clock } from '#libs/platform/time/clock.js';
import { JournalBackend } from '../backend/journal-backend.js';
import { JournalUnavailable, JournalUnreadable, messageOf } from '../journal-errors.js';
import type { JournalWriter } from '../journal.js';
import type { JournalFamily } from '../journal-id.js';
import type { KafkaJournalReader } from '../kafka/kafka-reader.js';
import { KafkaJournal } from '../kafka/kafka-journal.js';
import { KafkaUnsettled } from '../kafka/topic-log.js';
import type { KafkajsTopics } from '../kafka/kafkajs/kafkajs-topics.js';
import { isNotAllowed, rightMissing } from '../kafka/kafkajs/rights.js';
import { findIncarnation } from '../incarnation/topic-incarnation.js';
import { checkRestored, type RestoredPorts, type Surplus, surplusOf } from '../restored/restored-check.js';
import { RestoredMark } from '../restored/restored-mark.js';
import type { RecordMacs } from '../seals/record-macs.js';
import { findSealedFrom, noteSealedFrom, type SealedFromRow } from '../seals/sealed-end.js';
import { checkOffset, checkRecord, unknownTopic } from '../checkpoint/checkpoint-check.js';
import type { Checkpoint, CheckpointTable } from '../checkpoint/checkpoint-table.js';
import { CheckpointedWriter } from '../checkpoint/checkpointed-writer.js';

export interface CheckpointedTopicsPorts {
  readonly family: JournalFamily;
  readonly topics: KafkajsTopics;
  /** Reads topics unchecked. */
  readonly reader: KafkaJournalReader;
  readonly checkpoints: CheckpointTable;
  readonly pool: Pool;
  readonly clock: Clock;
}

/** The process that writes. */
export interface Opener {
  /** Its name in epoch records. */
  readonly opener: string;
  readonly seals: RecordMacs;
  /** For owners. A mover has the lock on the journals. */
  readonly stillHere?: () => Promise<void>;
}

interface TopicPresence {
  readonly shard: number;
  /** Whether the database has never seen the topic. */
  readonly isNew: boolean;
  readonly isThere: boolean;
}

/** Decides by the checkpoints which topics are created, opened or refused. */
export class CheckpointedTopics {
  constructor(private readonly ports: CheckpointedTopicsPorts) {}

  /** Whether the shard has a checkpoint. Rejects if the topic lacks that record. */
  async check(shard: number): Promise<boolean> {
    const { topics, checkpoints, reader, clock } = this.ports;
    const last = await checkpoints.newest(shard);
    if (last === undefined || last.sequence === 0) return false;
    const topic = { shard, topic: topics.nameOf(shard), reader, clock };
    const located = await checkpoints.located(shard);
    if (located !== undefined) {
      await checkOffset({ ...topic, begin: (known) => reader.begin(shard, known) }, located);
    }
    if (located?.hash !== last.hash) await checkRecord(topic, last);
    return true;
  }

  /** The same for readers that serve: a restored database serves nothing until a start has found that it belongs to its topics. */
  async checkToShow(shard: number): Promise<boolean> {
    await new RestoredMark(this.ports.pool, this.ports.family).refuse();
    return await this.check(shard);
  }

  /** For a writer. Refuses a restored database that is older than its topics. */
  async checkRestored(): Promise<void> {
    await checkRestored(this.restored).catch(unlessUnreadable);
  }

  /** How far the topics extend beyond what a restored database knows of them; empty for any other. */
  async surplus(): Promise<Surplus[]> {
    const ends = await this.restored.mark.ends();
    return await surplusOf(this.restored, ends).catch(unlessUnreadable);
  }

  /** Creates missing topics in which no record was ever seen. Checks all topics before it creates the first. */
  async have(shards: readonly number[]): Promise<void> {
    const { topics, checkpoints } = this.ports;
    for (const { shard, isNew, isThere } of await this.checkAll(shards)) {
      if (isNew) await checkpoints.begin(shard);
      if (!isThere) await (await topics.prepare(shard)).close();
    }
  }

  /** The same checks for readers. Creates nothing. Reports a lost topic as lost, and not as the first read error. */
  async refuseLost(shards: readonly number[]): Promise<void> {
    await this.checkAll(shards);
  }

  /** The topic of the shard must exist. */
  async open(
    shard: number,
    { opener, seals, stillHere }: Opener,
    onFault: (error: unknown) => void,
  ): Promise<JournalWriter> {
    const { family, topics, checkpoints, clock, pool } = this.ports;
    const life = await findIncarnation(pool);
    const journal = new KafkaJournal({
      family,
      openLog: (wanted) => topics.openFit(wanted),
      clock,
      opener,
      sealing: { seals, sealedFrom: (wanted) => this.sealedFrom(wanted) },
      lineage: { life: life.id, known: (wanted) => this.known(wanted) },
      ...(stillHere === undefined ? {} : { stillHere }),
    });
    const { writer, located } = await journal.openAfter(shard, await checkpoints.located(shard));
    try {
      if (!(await checkpoints.advance(shard, located()))) {
        throw new JournalUnavailable(shard, 'another writer has taken the shard since');
      }
      // Noted after the epoch record: until then the previous writer may continue.
      await pool.query(noteSealedFrom({ family, shard }, writer.head.sequence));
    } catch (error) {
      await writer.close();
      throw error;
    }
    return new CheckpointedWriter({ writer, located, checkpoints, clock, onFault });
  }

  private get restored(): RestoredPorts {
    const { family, topics, reader, pool, clock } = this.ports;
    return { mark: new RestoredMark(pool, family), reader, topicOf: (shard) => topics.nameOf(shard), clock };
  }

  /** The records that this database has seen in the topic, and the record up to which a restore brought it. */
  private async known(shard: number): Promise<Checkpoint[]> {
    const { family, checkpoints, pool } = this.ports;
    const accepted = new RestoredMark(pool, family).accepted(shard);
    const found = await Promise.all([checkpoints.newest(shard), accepted]);
    return found.filter((each) => each !== undefined);
  }

  private async sealedFrom(shard: number): Promise<number | undefined> {
    const { family, pool } = this.ports;
    const { rows } = await pool.query<SealedFromRow>(findSealedFrom({ family, shard }));
    return rows[0]?.sequence;
  }

  private async checkAll(shards: readonly number[]): Promise<TopicPresence[]> {
    const { family, pool } = this.ports;
    const isSettled = await new JournalBackend(pool, family).isSettled();
    const found: TopicPresence[] = [];
    for (const shard of shards) found.push(await this.checkTopic(shard, isSettled));
    return found;
  }

  /**
   * Refuses a topic that is unfit for a journal, or that is not as the database knows it. In this order: damage may only be the
   * effect of a wrong setting, and must not hide it.
   */
  private async checkTopic(shard: number, isSettled: boolean): Promise<TopicPresence> {
    const { topics, checkpoints } = this.ports;
    const isThere = await topics.isThereAndFit(shard);
    if (await this.check(shard).catch(unlessUnreadable)) return { shard, isNew: false, isThere: true };
    const isNew = (await checkpoints.newest(shard)) === undefined;
    // A process that saw the topic empty may have ended before the first checkpoint. The backend was settled before the first
    // record.
    const isOurs = !isNew && isSettled;
    if (isThere && !isOurs && !(await this.isEmpty(shard))) throw unknownTopic(shard, topics.nameOf(shard));
    return { shard, isNew, isThere };
  }

  private async isEmpty(shard: number): Promise<boolean> {
    const log = this.ports.topics.open(shard);
    try {
      return (await log.end().catch(unreadable)) === 0;
    } finally {
      await log.close();
    }
  }
}

function unlessUnreadable(error: unknown): never {
  if (!(error instanceof JournalUnreadable)) throw error;
  return unreadable(error);
}

/** The topics existed a moment ago, so a leader has gone since, unless the broker named another reason. */
function unreadable(error: unknown): never {
  if (isNotAllowed(error)) throw rightMissing(messageOf(error));
  throw new KafkaUnsettled(`the topics of the journals cannot be read: ${messageOf(error)}`);
}
