import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The oldest generation of releases that may work on this database, and the release whose migration said so. Raised by migrations alone,
 * and only as decision 89 allows; every process asks for it when it starts.
 */
const GENERATION = `
  create table meta.generation (
    only_row boolean primary key default true check (only_row),
    oldest integer not null check (oldest > 0),
    release text not null
  );
  insert into meta.generation (oldest, release) values (1, '0.3.0')`;

export class Generation1790000500000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(GENERATION);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table meta.generation');
  }
}
