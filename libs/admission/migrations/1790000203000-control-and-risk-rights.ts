import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Who changes the policy counts its versions, and who publishes evidence makes room for holds, without being allowed to write either
 * table: what the triggers do is all that can be done there.
 */
const RIGHTS = `
  alter function control.bump_version() security definer set search_path = pg_catalog, pg_temp;
  alter function risk.make_room_for_holds() security definer set search_path = pg_catalog, pg_temp;
`;

export class ControlAndRiskRights1790000203000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(RIGHTS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter function control.bump_version() security invoker reset search_path');
    await runner.query('alter function risk.make_room_for_holds() security invoker reset search_path');
  }
}
