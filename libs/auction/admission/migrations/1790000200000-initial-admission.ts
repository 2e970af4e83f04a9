import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Parts of the policy with versions of their own, so that followers read again only what changed. */
const VERSIONED: Readonly<Record<string, string>> = {
  contracts: 'contracts',
  principals: 'principals',
  accounts_policy: 'principals',
  halts: 'halts',
  groups: 'groups',
  group_members: 'groups',
  protection_state: 'protection',
};

const POLICY = `
  create schema control;

  create table control.version (
    only_row boolean primary key default true check (only_row),
    version bigint not null default 1,
    contracts bigint not null default 1,
    principals bigint not null default 1,
    halts bigint not null default 1,
    groups bigint not null default 1,
    protection bigint not null default 1
  ) with (fillfactor = 10);
  insert into control.version default values;

  create table control.contracts (
    venue text not null,
    contract_id text not null,
    outcome text not null,
    title text not null,
    equivalence_id text not null,
    price_tick_atoms bigint not null check (price_tick_atoms between 1 and 999999),
    quantity_step_atoms bigint not null check (quantity_step_atoms > 0),
    status text not null check (status in ('TRADING', 'PAUSED', 'CLOSED')),
    closes_at timestamptz not null,
    primary key (venue, contract_id, outcome)
  );

  create table control.principals (
    account_id text primary key,
    display_name text not null,
    is_maker boolean not null default false,
    is_originator boolean not null default false
  );

  create table control.accounts_policy (
    account_id text primary key,
    suspended boolean not null default false,
    may_create boolean not null default false,
    may_quote boolean not null default false,
    venues text[] not null default '{}',
    max_quantity_atoms bigint not null check (max_quantity_atoms >= 0),
    control_group text
  );

  create table control.halts (
    halt_id uuid primary key,
    scope text not null check (scope in ('GLOBAL', 'VENUE', 'MARKET', 'PRINCIPAL')),
    target text check ((scope = 'GLOBAL') = (target is null)),
    what text[] not null check (cardinality(what) > 0 and what <@ array['CREATE', 'QUOTE']),
    reason text not null,
    created_by text not null,
    created_at timestamptz not null,
    lifted_by text,
    lifted_at timestamptz
  );
  create index halts_standing on control.halts (created_at) where lifted_at is null;

  create table control.groups (
    group_id uuid primary key,
    owner text not null,
    name text not null
  );
  create index groups_of_owner on control.groups (owner, group_id);

  create table control.group_members (
    group_id uuid not null references control.groups on delete cascade,
    account_id text not null,
    primary key (group_id, account_id)
  );

  create table control.protection (
    account_id text primary key,
    window_ms bigint not null check (window_ms > 0),
    max_awards bigint not null check (max_awards > 0),
    max_award_notional_atoms bigint not null check (max_award_notional_atoms > 0),
    frozen_ms bigint not null check (frozen_ms > 0),
    counts_from timestamptz not null
  );

  create table control.protection_awards (
    award_id uuid primary key,
    account_id text not null,
    awarded_at timestamptz not null,
    notional_atoms bigint not null
  );
  create index protection_awards_of_account on control.protection_awards (account_id, awarded_at);

  create table control.protection_state (
    account_id text primary key,
    tripped_at timestamptz not null,
    frozen_until timestamptz not null
  );
`;

/**
 * The row lock on the version serializes changes of policy, so versions are seen in order. A role that changes the
 * policy needs no right to the version: the trigger has it.
 */
const BUMP = `
  create function control.bump_version() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  begin
    execute format('update control.version set version = version + 1, %1$I = %1$I + 1', tg_argv[0]);
    return null;
  end
  $$;
`;

/** Accounts must be UUIDs: a journal with another name could not be projected. */
const NAMES = `
  create function control.refuse_strange_names() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin
    if pg_has_role(current_user, (select relowner from pg_class where oid = tg_relid), 'usage') then
      return new;
    end if;
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

/** The log of operators' actions. Entries are never changed; a later entry corrects a mistake. */
const BOOK = `
  create table control.operator_actions (
    entry bigint generated always as identity primary key,
    action_id uuid not null,
    operator text not null,
    action text not null
      check (action in ('IMPOSE_HALT', 'LIFT_HALT', 'DRAIN_SHARD', 'RESUME_SHARD', 'VOID_AUCTION')),
    target text not null,
    halt jsonb check ((halt is not null) = (action in ('IMPOSE_HALT', 'LIFT_HALT'))),
    reason text,
    request_id text not null,
    at timestamptz not null default clock_timestamp(),
    outcome text not null check (outcome in ('ASKED', 'DONE', 'REFUSED', 'UNKNOWN')),
    error text check ((error is null) = (outcome in ('ASKED', 'DONE')))
  );
  create unique index operator_actions_asked on control.operator_actions (action_id) where outcome = 'ASKED';
  create unique index operator_actions_ended on control.operator_actions (action_id) where outcome <> 'ASKED';

  create function control.refuse_change() returns trigger language plpgsql as $$
  begin
    raise exception '% is append-only', tg_table_name using errcode = 'integrity_constraint_violation';
  end
  $$;
  create trigger operator_actions_stay before update or delete or truncate on control.operator_actions
  for each statement execute function control.refuse_change();
`;

/**
 * The gateways' login cannot impose or lift a halt without an entry of the same operator in the log, in the same
 * transaction (`xmin`). A lifted halt stays lifted, and times are the database's. The role that owns the tables is
 * exempt.
 */
const HALTS = `
  create function control.refuse_unbooked() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin
    if pg_has_role(current_user, (select relowner from pg_class where oid = tg_relid), 'usage') then
      return null;
    end if;
    if tg_op = 'UPDATE' and old.lifted_at is not null then
      raise exception 'halt % is lifted', new.halt_id using errcode = 'integrity_constraint_violation';
    end if;
    perform from control.operator_actions
      where target = new.halt_id::text and action = case tg_op when 'UPDATE' then 'LIFT_HALT' else 'IMPOSE_HALT' end
        and operator = case tg_op when 'UPDATE' then new.lifted_by else new.created_by end
        and outcome = 'DONE' and xmin = pg_current_xact_id()::xid;
    if not found then
      raise exception 'nothing in the book of operators says so of halt %', new.halt_id using errcode = 'integrity_constraint_violation';
    end if;
    return null;
  end
  $$;
  create constraint trigger halts_are_booked after insert or update on control.halts
    deferrable initially deferred for each row execute function control.refuse_unbooked();

  create function control.give_times() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin
    if pg_has_role(current_user, (select relowner from pg_class where oid = tg_relid), 'usage') then
      return new;
    end if;
    if tg_op = 'UPDATE' then
      new.lifted_at := clock_timestamp();
    else
      new.created_at := clock_timestamp();
    end if;
    return new;
  end
  $$;
  create trigger give_times before insert or update on control.halts
    for each row execute function control.give_times();
`;

/**
 * Free pages, and no index on changing columns, keep every update HOT, so transactions on neighbouring accounts do
 * not conflict. Evidence has no checks on purpose: another authority states it, and the reader rejects what is
 * wrong.
 */
const RISK = `
  create schema risk;

  create table risk.evidence (
    account_id text not null,
    venue text not null,
    resource text not null,
    asset text not null default '',
    amount bigint not null,
    settled bigint not null default 0,
    source_sequence bigint not null,
    risk_valid_until timestamptz not null,
    authority_valid_until timestamptz not null,
    primary key (account_id, venue, resource, asset)
  ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
  comment on column risk.evidence.settled is
    'all that settlements ever took from amount: until their holds are released, reserved may exceed amount by so much';

  create table risk.reserved (
    account_id text not null,
    venue text not null,
    resource text not null,
    asset text not null default '',
    shard_0 bigint not null default 0 check (shard_0 >= 0),
    shard_1 bigint not null default 0 check (shard_1 >= 0),
    shard_2 bigint not null default 0 check (shard_2 >= 0),
    primary key (account_id, venue, resource, asset)
  ) with (fillfactor = 30, autovacuum_vacuum_scale_factor = 0.05);

  create table risk.shard_fence (
    shard smallint primary key check (shard between 0 and 2),
    epoch bigint not null
  ) with (fillfactor = 10);
`;

/**
 * Owners never insert while they reserve, because an insert touches the index. Publishing evidence needs no right
 * to `reserved`.
 */
const ROOM_FOR_HOLDS = `
  create function risk.make_room_for_holds() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  begin
    insert into risk.reserved (account_id, venue, resource, asset)
    select account_id, venue, resource, asset from added order by 1, 2, 3, 4
    on conflict do nothing;
    return null;
  end
  $$;
  create trigger make_room_for_holds after insert on risk.evidence
  referencing new table as added for each statement execute function risk.make_room_for_holds();
`;

export class InitialAdmission1790000200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(POLICY);
    await runner.query(BUMP);
    for (const [table, part] of Object.entries(VERSIONED)) {
      await runner.query(`
        create trigger bump_version after insert or update or delete or truncate on control.${table}
        for each statement execute function control.bump_version('${part}')
      `);
    }
    await runner.query(NAMES);
    await runner.query(BOOK);
    await runner.query(HALTS);
    await runner.query(RISK);
    await runner.query(ROOM_FOR_HOLDS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema risk cascade');
    await runner.query('drop schema control cascade');
  }
}
