import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What somebody outside calls the payment or delivery that an opening enters: whoever enters it again, not knowing whether the first
 * time counted, enters nothing. The amount stands in the entries and nowhere else.
 */
const TABLE = `
  create table custody.openings (
    reference text primary key,
    transaction_id bigint not null unique references custody.transactions
  );
  create trigger openings_stay before update or delete or truncate on custody.openings
  for each statement execute function custody.refuse_change();
`;

export class Openings1790000302000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table custody.openings');
  }
}
