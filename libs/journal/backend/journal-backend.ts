import type { ClientBase, Pool } from 'pg';
import { withTransaction } from '#libs/platform/database/postgres.js';
import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';
import type { JournalFamily } from '../journal-id.js';

/** A Kafka and the topics in it; undefined stands for `journal.records`. */
export interface KafkaBackend {
  readonly clusterId: string;
  readonly topicPrefix: string;
}

interface Row {
  readonly cluster_id: string | null;
  readonly topic_prefix: string | null;
  /** Whether somebody has ever opened a shard in `journal.records`. */
  readonly is_used: boolean;
}

const FIND = `
  select home.cluster_id, home.topic_prefix, exists (select from journal.shards where family = $1) as is_used
  from (values (1)) as always (one) left join journal.home on home.family = $1`;
const CLUSTER = 'select cluster_id as "clusterId" from journal.home where family = $1';
const SETTLE = `
  insert into journal.home (family, cluster_id, topic_prefix) select $1, $2, $3
  where not exists (select from journal.shards where family = $1)
  on conflict do nothing`;
/**
 * By whoever settles that the journals are in Kafka, or moves them, to the end of his transaction: whoever opens a shard in `journal.records` writes
 * this table first, so each sees what the other has done. Appends go on. A mode that nobody may take who only reads the table.
 */
const SETTLING = 'lock table journal.shards in share row exclusive mode';
const MOVE_OUT = `
  insert into journal.home (family, cluster_id, topic_prefix) values ($1, $2, $3)
  on conflict (family) do update set cluster_id = excluded.cluster_id, topic_prefix = excluded.topic_prefix, since = now()`;
const MOVE_BACK = 'delete from journal.home where family = $1';

/** A process whose settings would have it write or read journals that are kept elsewhere. */
export class WrongBackend extends StartFault {
  constructor(reason: string) {
    super(reason, EXIT.config);
  }
}

/**
 * The database remembers where its journals are, so that nobody who starts with other settings begins them anew. Reservations and
 * projections are in the same database, and mean nothing beside another journal.
 */
export class JournalBackend {
  constructor(
    private readonly database: Pick<ClientBase, 'query'>,
    private readonly family: JournalFamily,
  ) {}

  /** Refuses settings that name another place. Of the Kafka it compares what it is given. */
  async check(wanted: Partial<KafkaBackend> | undefined): Promise<void> {
    const { rows } = await this.database.query<Row>(FIND, [this.family]);
    const [{ cluster_id: clusterId, topic_prefix: topicPrefix, is_used: isUsed }] = rows as [Row];
    if (wanted === undefined) {
      if (topicPrefix === null) return;
      throw inKafka(topicPrefix);
    }
    if (topicPrefix === null) {
      if (!isUsed) return;
      throw new WrongBackend(
        'the journals are in PostgreSQL: unset KAFKA_BROKERS, or move them with npm run journal -- copy',
      );
    }
    if (wanted.topicPrefix !== topicPrefix) {
      throw new WrongBackend(`the journals are in topics ${topicPrefix}*: set KAFKA_TOPIC_PREFIX`);
    }
    if (wanted.clusterId !== undefined && wanted.clusterId !== clusterId) {
      throw new WrongBackend(
        `the journals are in Kafka cluster ${clusterId}; KAFKA_BROKERS are those of another`,
      );
    }
  }

  /** For who looks at a Kafka in which the journals need not be: where they are in one, it is this. */
  async checkCopy(looked: KafkaBackend): Promise<void> {
    if (await this.isSettled()) await this.check(looked);
  }

  /** Whether the journals are known to be in Kafka. */
  async isSettled(): Promise<boolean> {
    return (await this.clusterId()) !== undefined;
  }

  /** Of the Kafka that they are known to be in. */
  async clusterId(): Promise<string | undefined> {
    const { rows } = await this.database.query<Pick<KafkaBackend, 'clusterId'>>(CLUSTER, [this.family]);
    return rows[0]?.clusterId;
  }

  /**
   * The journals are in this Kafka from now on. For a writer that has found everything there fit to write to, before it does. Of those
   * who would settle different places at once all but one are refused.
   */
  static async settle(pool: Pool, family: JournalFamily, wanted: KafkaBackend): Promise<void> {
    await withTransaction(pool, 'read committed', async (client) => {
      await client.query(SETTLING);
      await client.query(SETTLE, [family, wanted.clusterId, wanted.topicPrefix]);
      await new JournalBackend(client, family).check(wanted);
    });
  }

  /**
   * The journals are there from now on, unless the last look at the old place finds them changed. Who was opening a shard there in a
   * transaction of before has ended it by then, and who comes behind finds them moved.
   */
  async move(to: KafkaBackend | undefined, lastLook: () => Promise<void>): Promise<void> {
    await this.database.query('begin');
    try {
      await this.database.query(SETTLING);
      await lastLook();
      if (to === undefined) await this.database.query(MOVE_BACK, [this.family]);
      else await this.database.query(MOVE_OUT, [this.family, to.clusterId, to.topicPrefix]);
      await this.database.query('commit');
    } catch (error) {
      await this.database.query('rollback').catch(() => undefined);
      throw error;
    }
  }
}

export function inKafka(topicPrefix: string): WrongBackend {
  return new WrongBackend(`the journals are in Kafka (topics ${topicPrefix}*): set KAFKA_BROKERS`);
}
