import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A row for each shard says that this database was brought back from a backup while its journals are in Kafka, and which record of the
 * shard the backup knew last. A restore makes the table itself, together with the rows: a backup may be older than this migration.
 */
export const RESTORED_TABLE = `
  create table if not exists journal.restored (
    shard smallint primary key check (shard >= 0),
    sequence bigint not null check (sequence >= 0),
    hash bytea not null check (octet_length(hash) = 32),
    taken_at timestamptz not null,
    restored_at timestamptz not null default now()
  )`;

export class JournalRestored1790000104000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(RESTORED_TABLE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table journal.restored');
  }
}
