import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What processes of 0.2.0 call themselves, where they may go on behind this migration: in a database in which their logins have been given
 * rights before. Everybody else is given none of it.
 */
const LEFT = `
  do $$
  declare
    kept record;
  begin
    for kept in
      select r.rolname, g.call from pg_roles r join (values
        ('projector', 'pg_try_advisory_lock(integer,integer)'),
        ('executor', 'pg_try_advisory_xact_lock(bigint)'),
        ('operations', 'pg_advisory_xact_lock(bigint)')
      ) g (kind, call) on r.rolname = current_database() || '_' || g.kind
      where exists (
        select from pg_database d, aclexplode(d.datacl) a where d.datname = current_database() and a.grantee = r.oid)
    loop
      execute format('grant execute on function pg_catalog.%s to %I', kept.call, kept.rolname);
    end loop;
  end
  $$`;

export class LocksOfBefore1790000507000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(LEFT);
  }

  async down(): Promise<void> {
    // A right that is left is no hindrance to whoever goes back.
  }
}
