import type { MigrationInterface, QueryRunner } from 'typeorm';

/** One row: the number of cells at the first start. Users are assigned to cells by this number, so it must not change. */
const TABLES = `
  create schema if not exists execution_control;

  create table execution_control.cell_count (
    only_row boolean primary key default true check (only_row),
    cells integer not null check (cells between 1 and 16)
  );
`;

export class CellCount1790000480000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table execution_control.cell_count');
  }
}
