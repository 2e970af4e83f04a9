import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tables whose rows belong to a family. */
const TABLES = ['shards', 'records', 'snapshots', 'sealed', 'home', 'witness', 'restored', 'accepted'];

/**
 * Grants are per table. This policy adds the families whose rows a login may read and write: the names of the roles begin with the
 * database's name. Other roles have all families. As a subquery it is evaluated once per statement, not per row.
 */
const OWN = `
  family = any ((select case current_user::text
    when current_database() || '_owner' then array['auction']
    when current_database() || '_settler' then array['auction']
    when current_database() || '_cell' then array['execution']
    when current_database() || '_ingest' then array['data']
    when current_database() || '_gateway' then array['auction', 'execution']
    when current_database() || '_projector' then array['auction', 'execution']
    else array['auction', 'execution', 'data']
  end)::text[])`;

/** A login reads, writes, moves and removes only rows of its own families. */
export class OwnFamily1790000110000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) {
      await runner.query(`
        alter table journal.${table} enable row level security;
        create policy own_family on journal.${table} using (${OWN}) with check (${OWN})`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) {
      await runner.query(`
        alter table journal.${table} disable row level security;
        drop policy own_family on journal.${table}`);
    }
  }
}
