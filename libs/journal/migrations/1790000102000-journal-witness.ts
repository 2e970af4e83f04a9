import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLE = `
  create table journal.witness (
    shard smallint primary key check (shard >= 0),
    sequence bigint not null check (sequence >= 0),
    hash bytea not null check (octet_length(hash) = 32),
    at timestamptz not null default now()
  )`;

/** Journals that were in Kafka already are believed once, as they stand: there were three shards then, and nobody had looked. */
const OF_BEFORE = `
  insert into journal.witness (shard, sequence, hash)
  select shard, 0, decode(repeat('00', 32), 'hex') from generate_series(0, 2) as shard
  where exists (select from journal.home)`;

/** The last record of each shard that this database has seen in its topic. */
export class JournalWitness1790000102000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLE);
    await runner.query(OF_BEFORE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table journal.witness');
  }
}
