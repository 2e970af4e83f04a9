import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Its only row says where the journals are kept when that is not `journal.records`. */
const TABLE = `
  create table journal.home (
    is_only boolean primary key default true check (is_only),
    cluster_id text not null,
    topic_prefix text not null,
    since timestamptz not null default now()
  );
`;

export class JournalHome1790000101000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table journal.home');
  }
}
