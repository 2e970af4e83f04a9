import type { ClientBase, Pool } from 'pg';
import { withTransaction } from '#libs/platform/database/postgres.js';
import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';
import type { JournalFamily } from '../journal-id.js';

/** Kafka as the storage backend; undefined stands for `journal.records`. */
export interface KafkaBackend {
  readonly clusterId: string;
  readonly topicPrefix: string;
}

interface Row {
  readonly cluster_id: string | null;
  readonly topic_prefix: string | null;
  /** Whether a shard was ever opened in `journal.records`. */
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
 * Locks out processes that open a shard in `journal.records`, which write this table first, until the transaction has settled or
 * moved the backend. Appends continue. This lock mode needs more than the right to read.
 */
const SETTLING = 'lock table journal.shards in share row exclusive mode';
const MOVE_OUT = `
  insert into journal.home (family, cluster_id, topic_prefix) values ($1, $2, $3)
  on conflict (family) do update set cluster_id = excluded.cluster_id, topic_prefix = excluded.topic_prefix, since = now()`;
const MOVE_BACK = 'delete from journal.home where family = $1';

/** The settings of a process name another backend than the journals have. */
export class WrongBackend extends StartFault {
  constructor(reason: string) {
    super(reason, EXIT.config);
  }
}

/**
 * The storage backend that a database remembers for its journals. A process with other settings is refused, so that it does not
 * start new journals: reservations and projections in the same database mean nothing with another journal.
 */
export class JournalBackend {
  constructor(
    private readonly database: Pick<ClientBase, 'query'>,
    private readonly family: JournalFamily,
  ) {}

  /** Refuses settings that name another backend. Compares only those fields of Kafka that are given. */
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

  /** For readers of a Kafka cluster that may hold only a copy: if the journals are in Kafka, they must be in this cluster. */
  async checkCopy(opened: KafkaBackend): Promise<void> {
    if (await this.isSettled()) await this.check(opened);
  }

  /** Whether the journals are known to be in Kafka. */
  async isSettled(): Promise<boolean> {
    return (await this.clusterId()) !== undefined;
  }

  /** Whether the journals are known to be in this Kafka. */
  async clusterId(): Promise<string | undefined> {
    const { rows } = await this.database.query<Pick<KafkaBackend, 'clusterId'>>(CLUSTER, [this.family]);
    return rows[0]?.clusterId;
  }

  /**
   * Records that the journals are in this Kafka. A writer calls this after it has checked the topics, and before it writes. If
   * several processes settle different backends at once, all but one are refused.
   */
  static async settle(pool: Pool, family: JournalFamily, wanted: KafkaBackend): Promise<void> {
    await withTransaction(pool, 'read committed', async (client) => {
      await client.query(SETTLING);
      await client.query(SETTLE, [family, wanted.clusterId, wanted.topicPrefix]);
      await new JournalBackend(client, family).check(wanted);
    });
  }

  /**
   * Moves the journals to this backend, unless `checkUnchanged` finds that they changed in the old one. The lock waits for
   * transactions that open a shard there; later ones find the journals moved.
   */
  async move(to: KafkaBackend | undefined, checkUnchanged: () => Promise<void>): Promise<void> {
    await this.database.query('begin');
    try {
      await this.database.query(SETTLING);
      await checkUnchanged();
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
