import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Up to which record of each topic a restored database was found to have everything when its mark went. Behind that very record its owners
 * may go on although the topic was last written for the database that was lost.
 */
const TABLE = `
  create table journal.accepted (
    shard smallint primary key check (shard >= 0),
    sequence bigint not null check (sequence >= 0),
    hash bytea not null check (octet_length(hash) = 32),
    accepted_at timestamptz not null default now()
  )`;

export class JournalAccepted1790000107000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table journal.accepted');
  }
}
