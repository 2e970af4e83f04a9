import type { ClientBase } from 'pg';
import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';
import { GENESIS_HASH } from '../hash-chain.js';
import type { Witnessed } from '../witness/witness-table.js';

/** The last record of a shard that the backup knew. */
export interface RestoredEnd extends Witnessed {
  readonly shard: number;
}

type Database = Pick<ClientBase, 'query'>;

/**
 * What in a backup knows of a record because an owner of the database has written behind it. Projections
 * may know of later ones, which the owners of another database wrote: a ledger is not as far for that.
 */
const KNOWING = ['journal.witness', 'journal.snapshots'];
const FIND = `select shard, sequence, encode(hash, 'hex') as hash from journal.restored order by shard`;
const ACCEPT = `
  update journal.restored r set sequence = said.sequence, hash = decode(said.hash, 'hex')
  from unnest($1::smallint[], $2::bigint[], $3::text[]) as said (shard, sequence, hash)
  where r.shard = said.shard and r.sequence <= said.sequence`;
const MOVE = `
  with found as (delete from journal.restored returning shard, sequence, hash)
  insert into journal.accepted (shard, sequence, hash) select shard, sequence, hash from found
  on conflict (shard) do update set sequence = excluded.sequence, hash = excluded.hash, accepted_at = now()`;
const FIND_ACCEPTED = `select sequence, encode(hash, 'hex') as hash from journal.accepted where shard = $1`;
const IS_IN_KAFKA = `select exists (select from journal.home) as known`;

/** A database that is older than the journals that belong to it, as far as anybody knows. */
export class RestoredDatabase extends StartFault {
  constructor(what: string) {
    super(
      `this database was restored from a backup, and its journals in Kafka were not: ${what}. Stop everything; npm run journal -- accept-restored says what it lacks, and docs/operations.md how to go on`,
      EXIT.config,
    );
  }
}

/**
 * What a restore leaves in a database whose journals are in Kafka. Until it is gone nobody acts on that database: the ledger lacks what was
 * settled since the backup, and the reservations what was promised.
 */
export class RestoredMark {
  constructor(private readonly database: Database) {}

  async ends(): Promise<RestoredEnd[]> {
    return (await this.database.query<RestoredEnd>(FIND)).rows;
  }

  /** For whoever acts on the database and cannot tell how far the topics go. */
  async refuse(): Promise<void> {
    if ((await this.ends()).length === 0) return;
    throw new RestoredDatabase('nobody has found them to end where the backup does');
  }

  /** Everything that the journals say up to these records is in the database; it is marked with them until a start finds nothing behind them. */
  async accept(ends: readonly RestoredEnd[]): Promise<void> {
    const { rowCount } = await this.database.query(ACCEPT, [
      ends.map(({ shard }) => shard),
      ends.map(({ sequence }) => sequence),
      ends.map(({ hash }) => hash),
    ]);
    if (rowCount !== ends.length) throw new Error('the mark of the restored database has gone');
  }

  /** The topics end where the database was brought to. From there its life may follow another: see `lifeBehind`. */
  async remove(): Promise<void> {
    await this.database.query(MOVE);
  }

  /** The record up to which the database was brought, or found to be, when it had last been restored. */
  async accepted(shard: number): Promise<Witnessed | undefined> {
    return (await this.database.query<Witnessed>(FIND_ACCEPTED, [shard])).rows[0];
  }

  /**
   * In the transaction that fills the database, so that there is no moment at which it can be taken for another. What was marked in
   * the backup already stays as it was.
   */
  static async set(
    database: Database,
    { shards, takenAt }: { shards: number; takenAt: string },
  ): Promise<void> {
    const { rows } = await database.query<{ known: boolean }>(IS_IN_KAFKA);
    if (rows[0]?.known !== true) return;
    const known = KNOWING.map((table) => `select shard, sequence, hash from ${table} where sequence > 0`);
    const nothing = `select shard::smallint, 0::bigint, decode($2, 'hex') from generate_series(0, $1 - 1) as shard`;
    await database.query(
      `insert into journal.restored (shard, sequence, hash, taken_at)
       select distinct on (shard) shard, sequence, hash, $3 from (${[nothing, ...known].join(' union all ')}) as known (shard, sequence, hash)
       order by shard, sequence desc
       on conflict (shard) do nothing`,
      [shards, GENESIS_HASH, takenAt],
    );
  }
}
