import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The last record of each append has a seal. A row of `journal.sealed` says from which record on that is so: what is older has none, and a
 * shard without a row is believed as it stands, once.
 */
const SEALS = `
  alter table journal.records add column seal bytea;

  create table journal.sealed (
    shard smallint primary key check (shard >= 0),
    sequence bigint not null check (sequence > 0),
    since timestamptz not null default now()
  )`;

export class JournalSeals1790000106000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(SEALS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table journal.sealed; alter table journal.records drop column seal');
  }
}
