import type { ClientBase } from 'pg';
import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';
import { beforeFirst } from '../hash-chain.js';
import type { JournalFamily, JournalId } from '../journal-id.js';
import type { Checkpoint } from '../checkpoint/checkpoint-table.js';

/** The last record of a shard that the backup knew. */
export interface RestoredEnd extends Checkpoint {
  readonly shard: number;
}

type Database = Pick<ClientBase, 'query'>;

/**
 * Tables of a backup that know a record because an owner of the database wrote after it. Projections may know later records, written
 * by owners of another database; the ledger does not have those.
 */
const KNOWING = ['journal.witness', 'journal.snapshots'];
const FIND = `select shard, sequence, encode(hash, 'hex') as hash from journal.restored where family = $1 order by shard`;
const ACCEPT = `
  update journal.restored r set sequence = said.sequence, hash = decode(said.hash, 'hex')
  from unnest($2::smallint[], $3::bigint[], $4::text[]) as said (shard, sequence, hash)
  where r.family = $1 and r.shard = said.shard and r.sequence <= said.sequence`;
const MOVE = `
  with found as (delete from journal.restored where family = $1 returning family, shard, sequence, hash)
  insert into journal.accepted (family, shard, sequence, hash) select family, shard, sequence, hash from found
  on conflict (family, shard) do update set sequence = excluded.sequence, hash = excluded.hash, accepted_at = now()`;
const FIND_ACCEPTED = `select sequence, encode(hash, 'hex') as hash from journal.accepted where family = $1 and shard = $2`;
const IN_KAFKA = 'select family from journal.home';

/** The database is older than its journals, or may be. */
export class RestoredDatabase extends StartFault {
  constructor(what: string) {
    super(
      `this database was restored from a backup, and its journals in Kafka were not: ${what}. Stop everything; npm run journal -- accept-restored lists what it lacks, and docs/operate/backup.md describes the next steps`,
      EXIT.config,
    );
  }
}

/**
 * The mark that a restore leaves in a database whose journals are in Kafka. While it is there, no process acts on the database:
 * the ledger lacks settlements since the backup, and the reservations lack new promises.
 */
export class RestoredMark {
  constructor(
    private readonly database: Database,
    private readonly family: JournalFamily,
  ) {}

  async ends(): Promise<RestoredEnd[]> {
    return (await this.database.query<RestoredEnd>(FIND, [this.family])).rows;
  }

  /** For processes that act on the database and do not know the ends of the topics. */
  async refuse(): Promise<void> {
    if ((await this.ends()).length === 0) return;
    throw new RestoredDatabase('no start has found yet that they end where the backup does');
  }

  /** Notes that the database is complete up to these records. It stays marked until a start finds nothing after them. */
  async accept(ends: readonly RestoredEnd[]): Promise<void> {
    const { rowCount } = await this.database.query(ACCEPT, [
      this.family,
      ends.map(({ shard }) => shard),
      ends.map(({ sequence }) => sequence),
      ends.map(({ hash }) => hash),
    ]);
    if (rowCount !== ends.length) throw new Error('the mark of the restored database has gone');
  }

  /**
   * Called when the topics end at the database's position. From there it may follow another incarnation: see `incarnationAfter`.
   */
  async remove(): Promise<void> {
    await this.database.query(MOVE, [this.family]);
  }

  /** The record up to which the database was complete after its last restore. */
  async accepted(shard: number): Promise<Checkpoint | undefined> {
    return (await this.database.query<Checkpoint>(FIND_ACCEPTED, [this.family, shard])).rows[0];
  }

  /**
   * Runs in the transaction that fills the database, so that the database is never without its mark. A mark that the backup
   * itself contains stays unchanged.
   */
  static async set(
    database: Database,
    { journals, takenAt }: { journals: readonly JournalId[]; takenAt: string },
  ): Promise<void> {
    const { rows } = await database.query<{ family: JournalFamily }>(IN_KAFKA);
    const known = KNOWING.map(
      (table) => `select family, shard, sequence, hash from ${table} where sequence > 0`,
    );
    const nothing = `select family, shard, 0::bigint, decode(hash, 'hex') from unnest($2::text[], $3::smallint[], $4::text[]) as unseen (family, shard, hash)`;
    await database.query(
      `insert into journal.restored (family, shard, sequence, hash, taken_at)
       select distinct on (family, shard) family, shard, sequence, hash, $5
       from (${[nothing, ...known].join(' union all ')}) as known (family, shard, sequence, hash)
       where family = any ($1)
       order by family, shard, sequence desc
       on conflict (family, shard) do nothing`,
      [
        rows.map(({ family }) => family),
        journals.map(({ family }) => family),
        journals.map(({ shard }) => shard),
        journals.map(({ family }) => beforeFirst(family).hash),
        takenAt,
      ],
    );
  }
}
