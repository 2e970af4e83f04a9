import type { MigrationInterface, QueryRunner } from 'typeorm';
import { UNLESS_OWNER } from './unless-owner.js';

/**
 * An account is named by a UUID wherever it is journaled, and projections keep it as one. Another name among those who take part would be
 * invited with all others, and the journal that says so could be projected no more.
 */
const NAMES = `
  create function control.refuse_strange_names() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin${UNLESS_OWNER}
    if new.account_id !~ '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$' then
      raise exception 'no account is named %', new.account_id using errcode = 'integrity_constraint_violation';
    end if;
    return new;
  end
  $$;
  create trigger refuse_strange_names before insert or update on control.principals
    for each row execute function control.refuse_strange_names();
  create trigger refuse_strange_names before insert or update on control.accounts_policy
    for each row execute function control.refuse_strange_names();
`;

/** Owners say where the journals are when they begin the first; journals that exist are moved by who owns the tables. */
const HOME = `
  create function journal.refuse_another_home() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin${UNLESS_OWNER}
    if exists (select from journal.records) and not exists (select from journal.home) then
      raise exception 'the journals are here' using errcode = 'integrity_constraint_violation';
    end if;
    return new;
  end
  $$;
  create trigger refuse_another_home before insert on journal.home
    for each row execute function journal.refuse_another_home();
`;

export class WhoTakesPart1790000503000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(NAMES);
    await runner.query(HOME);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'drop trigger refuse_another_home on journal.home; drop function journal.refuse_another_home()',
    );
    for (const table of ['principals', 'accounts_policy'])
      await runner.query(`drop trigger refuse_strange_names on control.${table}`);
    await runner.query('drop function control.refuse_strange_names()');
  }
}
