import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Only the HMAC of a triple is stored. `version` numbers the changes of keys. The time of last use has a table of its own, because
 * it does not change a key. A provider without a row in `api_access` is enabled.
 */
const TABLES = `
  alter table identity.version
    add column api_keys bigint not null default 1,
    add column api_access bigint not null default 1;

  create table identity.api_keys (
    client_id text primary key check (client_id ~ '^sotto_ck_[0-9a-f]{24}$'),
    account_id uuid not null references identity.users,
    name text not null check (char_length(name) between 1 and 64),
    preset text check (preset in ('readonly', 'trading')),
    scopes text[] not null check (cardinality(scopes) <= 50 and array_to_string(scopes, ' ') !~ '(^| )auction:'),
    ip_allow_list text[] not null check (cardinality(ip_allow_list) <= 50),
    orders_per_minute int check (orders_per_minute between 1 and 10000),
    expires_at timestamptz,
    created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
    digest bytea not null check (length(digest) = 32),
    previous_digest bytea check (length(previous_digest) = 32),
    previous_valid_until timestamptz,
    revoked_at timestamptz,
    version bigint not null,
    check ((previous_digest is null) = (previous_valid_until is null))
  );
  create index api_keys_of_account on identity.api_keys (account_id, created_at, client_id);
  create index api_keys_in_order on identity.api_keys (version);

  create table identity.api_key_uses (
    client_id text primary key references identity.api_keys,
    last_used_at timestamptz not null
  );

  create table identity.api_access (
    provider text primary key check (provider ~ '^[a-z][a-z0-9_]{0,31}$'),
    enabled boolean,
    set_by uuid not null,
    reason text not null check (char_length(reason) <= 1024),
    set_at timestamptz not null default clock_timestamp()
  );

  create table identity.auth_failures (
    address text not null check (length(address) <= 64),
    failed_at timestamptz not null
  );
  create index auth_failures_of_address on identity.auth_failures (address, failed_at);
  create index auth_failures_by_time on identity.auth_failures (failed_at);

  create table identity.auth_blocks (
    address text primary key check (length(address) <= 64),
    blocked_until timestamptz not null,
    blocked_at timestamptz not null
  );
  create index auth_blocks_by_time on identity.auth_blocks (blocked_at);
  create index auth_blocks_by_end on identity.auth_blocks (blocked_until);
`;

/** As with accounts, the row lock on the version serializes changes: a reader that sees a version sees all changes up to it. */
const FEEDS = `
  create function identity.number_api_key() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  begin
    if tg_op = 'UPDATE' and old.revoked_at is not null then
      raise exception 'key % is revoked', old.client_id using errcode = 'integrity_constraint_violation';
    end if;
    select v.api_keys into new.version from identity.version v;
    return new;
  end
  $$;
  create trigger bump_version before insert or update on identity.api_keys
    for each statement execute function identity.bump_version('api_keys');
  create trigger number_api_key before insert or update on identity.api_keys
    for each row execute function identity.number_api_key();
  create trigger bump_version before insert or update or delete on identity.api_access
    for each statement execute function identity.bump_version('api_access');
`;

/**
 * Counts a failed authentication by the clock of the database, in one window for all processes. `counted` is false if there were
 * already ten in the last minute. An address with ten failures is entered in `auth_blocks`, which every process follows.
 */
const THROTTLE = `
  create function identity.count_auth_failure(source text, out counted boolean, out blocked_ms float8)
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  declare
    present timestamptz;
    failures int;
    oldest timestamptz;
  begin
    perform pg_advisory_xact_lock(hashtextextended(source, 78));
    present := clock_timestamp();
    select count(*), coalesce(min(f.failed_at), present) into failures, oldest
      from identity.auth_failures f
      where f.address = source and f.failed_at > present - interval '1 minute';
    counted := failures < 10;
    if counted then
      insert into identity.auth_failures (address, failed_at) values (source, present);
      failures := failures + 1;
    end if;
    if failures >= 10 then
      blocked_ms := extract(epoch from oldest + interval '1 minute' - present) * 1000;
      insert into identity.auth_blocks (address, blocked_until, blocked_at)
        values (source, oldest + interval '1 minute', present)
        on conflict (address) do update
        set blocked_until = excluded.blocked_until, blocked_at = excluded.blocked_at;
    end if;
  end
  $$;
`;

export class ApiKeys1790000060000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
    await runner.query(FEEDS);
    await runner.query(THROTTLE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop function identity.count_auth_failure;
      drop table identity.auth_blocks, identity.auth_failures, identity.api_access, identity.api_key_uses,
        identity.api_keys;
      drop function identity.number_api_key;
      alter table identity.version drop column api_keys, drop column api_access`);
  }
}
