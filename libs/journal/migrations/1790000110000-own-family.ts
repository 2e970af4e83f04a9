import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tables whose rows belong to a family. */
const TABLES = ['shards', 'records', 'snapshots', 'sealed', 'home', 'witness', 'restored', 'accepted'];

/**
 * Grants are per table. This policy adds which family a login may write: the names of the roles begin with the database's name.
 */
const OWN = `
  case current_user::text
    when current_database() || '_owner' then family = 'auction'
    when current_database() || '_cell' then family = 'execution'
    when current_database() || '_ingest' then family = 'data'
    else true
  end`;

/** A process that may read one journal may read all. It writes, moves and removes only rows of its own family. */
export class OwnFamily1790000110000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) {
      await runner.query(`
        alter table journal.${table} enable row level security;
        create policy all_read on journal.${table} for select using (true);
        create policy own_family on journal.${table} using (${OWN}) with check (${OWN})`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) {
      await runner.query(`
        alter table journal.${table} disable row level security;
        drop policy all_read on journal.${table};
        drop policy own_family on journal.${table}`);
    }
  }
}
