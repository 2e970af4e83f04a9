import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Every table that says of its rows which family they are of. */
const TABLES = ['shards', 'records', 'snapshots', 'sealed', 'home', 'witness', 'restored', 'accepted'];

/** Rights name tables. Which family a login writes there is said here: the roles bear the name of the database. */
const OWN = `
  case current_user::text
    when current_database() || '_owner' then family = 'auction'
    when current_database() || '_cell' then family = 'execution'
    when current_database() || '_ingest' then family = 'data'
    else true
  end`;

/** Whoever may read a journal reads all of them; a process writes, moves and removes only what is of its own family. */
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
