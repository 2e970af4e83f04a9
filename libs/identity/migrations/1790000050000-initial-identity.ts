import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = `
  create schema identity;

  create table identity.version (
    only_row boolean primary key default true check (only_row),
    accounts bigint not null default 1,
    revocations bigint not null default 1,
    keys bigint not null default 1
  ) with (fillfactor = 10);
  insert into identity.version default values;

  create table identity.users (
    account_id uuid primary key,
    email text not null check (length(email) between 1 and 254),
    email_key text not null unique check (email_key <> ''),
    display_name text not null,
    password_hash text not null,
    disabled boolean not null default false
  );

  create table identity.enrolments (
    account_id uuid not null references identity.users,
    service text not null check (service ~ '^[A-Z][A-Z_]{0,31}$'),
    roles text[] not null,
    capabilities text[] not null,
    primary key (account_id, service)
  );

  create table identity.account_changes (
    account_id uuid primary key,
    version bigint not null
  );
  create index account_changes_in_order on identity.account_changes (version);

  create table identity.sessions (
    sid uuid primary key,
    account_id uuid not null references identity.users,
    created_at timestamptz not null,
    max_until timestamptz not null check (max_until > created_at)
  );
  create index sessions_of_account on identity.sessions (account_id);
  create index sessions_by_end on identity.sessions (max_until);

  create table identity.revocations (
    id uuid primary key,
    kind text not null check (kind in ('TOKEN', 'SESSION')),
    revoked_at timestamptz not null,
    expires_at timestamptz not null,
    version bigint not null
  );
  create index revocations_in_order on identity.revocations (version);
  create index revocations_by_end on identity.revocations (expires_at);

  create table identity.signing_keys (
    kid text primary key,
    sealed_private_key bytea not null,
    created_at timestamptz not null,
    active_from timestamptz not null
  );

  create table identity.login_failures (
    key text not null,
    failed_at timestamptz not null
  );
  create index login_failures_of_key on identity.login_failures (key, failed_at);
  create index login_failures_by_time on identity.login_failures (failed_at);
`;

/**
 * The row lock on the version is held until the commit, which serializes the changes of one kind: a reader that sees a version sees
 * all changes up to it. Only these triggers number changes, because a process that lowered a number could hide a revocation.
 */
const FEEDS = `
  create function identity.bump_version() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  begin
    execute format('update identity.version set %1$I = %1$I + 1', tg_argv[0]);
    return null;
  end
  $$;

  create function identity.note_account() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  begin
    insert into identity.account_changes (account_id, version)
      select coalesce(new.account_id, old.account_id), v.accounts from identity.version v
      on conflict (account_id) do update set version = excluded.version;
    return null;
  end
  $$;

  create function identity.number_revocation() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  begin
    select v.revocations into new.version from identity.version v;
    return new;
  end
  $$;

  create trigger bump_version before insert or update or delete on identity.users
    for each statement execute function identity.bump_version('accounts');
  create trigger note_account after insert or update or delete on identity.users
    for each row execute function identity.note_account();
  create trigger bump_version before insert or update or delete on identity.enrolments
    for each statement execute function identity.bump_version('accounts');
  create trigger note_account after insert or update or delete on identity.enrolments
    for each row execute function identity.note_account();
  create trigger bump_version before insert on identity.revocations
    for each statement execute function identity.bump_version('revocations');
  create trigger number_revocation before insert on identity.revocations
    for each row execute function identity.number_revocation();
  create trigger bump_version after insert or update or delete on identity.signing_keys
    for each row execute function identity.bump_version('keys');
`;

/**
 * The database sets times of creation and expiry. Otherwise the gateways' login could let a revocation expire before its token.
 * Times are corrected and not refused. The owner of the tables is exempt, as in all guards, so that it can repair rows.
 *
 * No token can be used or refreshed more than 28 hours after it was issued. One more hour allows for clock differences.
 */
const SERVER_TIMES = `
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
 * A revocation may be deleted only when it has no effect any more, and a session only when none of its tokens can be refreshed.
 * Without the row of the session no caller could revoke those tokens.
 */
const RETENTION = `
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

export class InitialIdentity1790000050000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
    await runner.query(FEEDS);
    await runner.query(SERVER_TIMES);
    await runner.query(RETENTION);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema identity cascade');
  }
}
