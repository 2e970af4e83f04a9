import type { ClientBase } from 'pg';
import { beforeFirst } from '../hash-chain.js';
import type { JournalHead } from '../journal.js';
import type { JournalFamily } from '../journal-id.js';
import type { LocatedHead } from '../kafka/log-cursor.js';

/** A record that was in a shard's topic when it was noted in the database. */
export type Checkpoint = Pick<JournalHead, 'sequence' | 'hash'>;

/** A snapshot is taken after a durable record, so it is a checkpoint as well. */
const NEWEST = `
  select sequence, encode(hash, 'hex') as hash from (
    select sequence, hash from journal.witness where family = $1 and shard = $2
    union all
    select sequence, hash from journal.snapshots where family = $1 and shard = $2
  ) as known
  order by sequence desc limit 1`;
const LOCATED = `
  select epoch, sequence, encode(hash, 'hex') as hash, log_offset as offset from journal.witness
  where family = $1 and shard = $2 and sequence > 0 and log_offset is not null`;
const BEGIN = `
  insert into journal.witness (family, shard, sequence, hash) values ($1, $2, 0, decode($3, 'hex'))
  on conflict (family, shard) do nothing`;
const ADVANCE = `
  insert into journal.witness as known (family, shard, sequence, hash, epoch, log_offset)
  values ($1, $2, $3, decode($4, 'hex'), $5, $6)
  on conflict (family, shard) do update set sequence = excluded.sequence, hash = excluded.hash,
    epoch = excluded.epoch, log_offset = excluded.log_offset, at = now()
  where known.sequence < excluded.sequence`;

/**
 * External checkpoints: what the database has seen of journals in Kafka. A topic can vanish, lose its end or be replaced;
 * reservations and projections remain, and must never be used with another journal.
 */
export class CheckpointTable {
  constructor(
    private readonly database: Pick<ClientBase, 'query'>,
    private readonly family: JournalFamily,
  ) {}

  /** The latest known record: sequence 0 if the topic was seen empty, undefined if it was never seen. */
  async newest(shard: number): Promise<Checkpoint | undefined> {
    const { rows } = await this.database.query<Checkpoint>(NEWEST, [this.family, shard]);
    return rows[0];
  }

  /** The latest record with a known offset; undefined if only a hash is known. */
  async located(shard: number): Promise<LocatedHead | undefined> {
    const { rows } = await this.database.query<LocatedHead>(LOCATED, [this.family, shard]);
    return rows[0];
  }

  /** Notes that the topic is empty. */
  async begin(shard: number): Promise<void> {
    await this.database.query(BEGIN, [this.family, shard, beforeFirst(this.family).hash]);
  }

  /** Notes a record. Returns false, without a change, if an equally late one is known. */
  async advance(shard: number, known: Checkpoint | LocatedHead): Promise<boolean> {
    const { sequence, hash } = known;
    const location = 'offset' in known ? [known.epoch, known.offset] : [null, null];
    const values = [this.family, shard, sequence, hash, ...location];
    return (await this.database.query(ADVANCE, values)).rowCount === 1;
  }
}
