import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The turn of who renews evidence, and no other lock: see `meta.take_lease`. */
const TURN = `
  create function custody.take_evidence_turn() returns boolean
  language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
    select pg_try_advisory_xact_lock(7210554317)
  $$;
  revoke all on function custody.take_evidence_turn() from public`;

export class TurnOfEvidence1790000305000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TURN);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop function custody.take_evidence_turn()');
  }
}
