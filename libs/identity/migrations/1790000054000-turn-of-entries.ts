import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The turn of who enters people, and no other lock: see `meta.take_lease`. */
const TURN = `
  create function identity.await_entry_turn() returns void
  language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
    select pg_advisory_xact_lock(7210554319)
  $$;
  revoke all on function identity.await_entry_turn() from public`;

export class TurnOfEntries1790000054000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TURN);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop function identity.await_entry_turn()');
  }
}
