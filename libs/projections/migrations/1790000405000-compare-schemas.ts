import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Where `projection compare` makes the projections again. Empty but for that, so that no login needs the right to make schemas. */
const SCHEMAS = ['compare_completed', 'compare_execution'];

export class CompareSchemas1790000405000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const schema of SCHEMAS) await runner.query(`create schema ${schema}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const schema of SCHEMAS) await runner.query(`drop schema ${schema} cascade`);
  }
}
