import type { MigrationInterface, QueryRunner } from 'typeorm';

const FUNCTIONS = ['bump_version', 'note_account', 'number_revocation'];

/** Changes are numbered by the triggers alone; a process that could set a number back would hide a revocation from all gateways. */
export class IdentityRights1790000051000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const name of FUNCTIONS) {
      await runner.query(
        `alter function identity.${name}() security definer set search_path = pg_catalog, pg_temp`,
      );
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const name of FUNCTIONS) {
      await runner.query(`alter function identity.${name}() security invoker reset search_path`);
    }
  }
}
