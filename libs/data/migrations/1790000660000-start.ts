import type { MigrationInterface, QueryRunner } from 'typeorm';

/** One row: whether everything that the sources held at the last start of ingest is projected. */
const START = `
  create table data.start (
    only_one boolean primary key default true check (only_one),
    is_projected boolean not null
  )`;

export class Start1790000660000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(START);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table data.start');
  }
}
