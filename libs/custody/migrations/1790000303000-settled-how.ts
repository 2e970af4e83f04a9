import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * With the venue, all that it takes to settle the award again as it was settled, for whoever is told what stands: the event that confirms
 * it carries this. What was settled before has neither, and what its entries say is not guessed from them.
 */
const COLUMNS = `
  alter table custody.settlements
    add column asset text,
    add column delivered_atoms bigint check (delivered_atoms >= 0)
`;

export class SettledHow1790000303000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(COLUMNS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table custody.settlements drop column asset, drop column delivered_atoms');
  }
}
