import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The leases of projectors, and no other lock: whoever may call the function beneath takes as many as the server has room for, and nobody
 * gets one any more. In a schema that no rebuild exchanges.
 */
const LEASE = `
  create function meta.take_lease(wanted integer) returns boolean
  language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
    select case when wanted between 0 and 2 then pg_try_advisory_lock(1749203316, wanted) else false end
  $$;
  revoke all on function meta.take_lease(integer) from public`;

export class NamedLeases1790000405000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(LEASE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop function meta.take_lease(integer)');
  }
}
