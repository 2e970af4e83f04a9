import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A journal that was restored from a backup goes on from an earlier moment with other events: whoever knows it by its positions has
 * to know which of the two is meant. `restored_at` is empty in the life in which a journal came about.
 */
const TABLE = `
  create table journal.life (
    is_only boolean primary key default true check (is_only),
    life uuid not null,
    restored_at timestamptz
  );
  insert into journal.life (life) values (gen_random_uuid())`;

export class JournalLife1790000105000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table journal.life');
  }
}
