import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * When something was, and when it ends, is the database's to say: a gateway's login that could write it would let a revocation end before
 * its token, or a failed login count for ever. Values are put right instead of refused, because gateways of earlier releases write them
 * too. Who owns the tables is not asked; tests go by clocks of their own that way. The clock is that of the statement, for a transaction
 * can be left open for days.
 *
 * No token can be shown or refreshed more than 28 hours after it was made, which was before it was revoked; one hour more is for clocks
 * that disagree.
 */
const GIVEN = `
  create function identity.give_times() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin
    if pg_has_role(current_user, (select relowner from pg_class where oid = tg_relid), 'usage') then
      return new;
    end if;
    case tg_table_name
      when 'revocations' then
        new.revoked_at := clock_timestamp();
        new.expires_at := clock_timestamp() + interval '29 hours';
      when 'sessions' then
        new.created_at := least(new.created_at, clock_timestamp());
        new.max_until := least(new.max_until, clock_timestamp() + interval '28 hours');
      when 'login_failures' then
        new.failed_at := clock_timestamp();
    end case;
    return new;
  end
  $$;
  create trigger give_times before insert on identity.revocations
    for each row execute function identity.give_times();
  create trigger give_times before insert on identity.sessions
    for each row execute function identity.give_times();
  create trigger give_times before insert on identity.login_failures
    for each row execute function identity.give_times();
`;

/**
 * A session without its row is one whose tokens nobody can revoke. Gateways of earlier releases clear it away an hour after its end, when
 * its last token can still be refreshed: that they ask so early is no fault, and the row stays until it is time.
 */
const STAY = `
  create function identity.keep_session() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin
    if pg_has_role(current_user, (select relowner from pg_class where oid = tg_relid), 'usage') then
      return old;
    end if;
    if old.max_until > now() then
      raise exception 'session % is not over', old.sid using errcode = 'integrity_constraint_violation';
    end if;
    if old.max_until > now() - interval '4 hours' then
      return null;
    end if;
    return old;
  end
  $$;
  create trigger sessions_stay before delete on identity.sessions
    for each row execute function identity.keep_session();
`;

/** What gateways wrote until now may have any time: revocations count from now on again, and every gateway reads them anew. */
const FORMER = `
  update identity.version set revocations = revocations + 1;
  update identity.revocations set expires_at = greatest(expires_at, now() + interval '29 hours'),
    version = (select v.revocations from identity.version v);
  update identity.sessions set created_at = least(created_at, now()), max_until = least(max_until, now() + interval '28 hours')
    where created_at > now() or max_until > now() + interval '28 hours';
  delete from identity.login_failures where failed_at > now();
`;

export class EndsAreGiven1790000053000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(GIVEN);
    await runner.query(STAY);
    await runner.query(FORMER);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop trigger sessions_stay on identity.sessions;
      drop function identity.keep_session();
      drop trigger give_times on identity.revocations;
      drop trigger give_times on identity.sessions;
      drop trigger give_times on identity.login_failures;
      drop function identity.give_times()`);
  }
}
