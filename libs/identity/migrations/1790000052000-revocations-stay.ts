import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What was revoked stays so for as long as it could be used, whoever has the login of gateways: they clear away what is long over. Who
 * owns the tables could take the trigger away, and is not asked.
 */
const STAY = `
  create function identity.keep_revocation() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin
    if old.expires_at > now() and not pg_has_role(current_user, (select relowner from pg_class where oid = tg_relid), 'usage') then
      raise exception 'revocation % still counts', old.id using errcode = 'integrity_constraint_violation';
    end if;
    return old;
  end
  $$;
  create trigger revocations_stay before delete on identity.revocations
    for each row execute function identity.keep_revocation();
`;

export class RevocationsStay1790000052000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(STAY);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'drop trigger revocations_stay on identity.revocations; drop function identity.keep_revocation()',
    );
  }
}
