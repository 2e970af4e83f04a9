import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Parts of the policy that are versioned one by one, so that followers read again only what changed. */
const VERSIONED: Readonly<Record<string, string>> = {
  contracts: 'contracts',
  principals: 'principals',
  accounts_policy: 'principals',
  halts: 'halts',
  groups: 'groups',
  group_members: 'groups',
  protection_state: 'protection',
};

const TABLES = `
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
    frozen_ms bigint not null check (frozen_ms > 0)
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

/** The row lock on the version makes changes of policy take turns, so a higher version is never seen before a lower one. */
const BUMP = `
  create function control.bump_version() returns trigger language plpgsql as $$
  begin
    execute format('update control.version set version = version + 1, %1$I = %1$I + 1', tg_argv[0]);
    return null;
  end
  $$;
`;

export class ControlSchema1790000200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
    await runner.query(BUMP);
    for (const [table, part] of Object.entries(VERSIONED)) {
      await runner.query(`
        create trigger bump_version after insert or update or delete or truncate on control.${table}
        for each statement execute function control.bump_version('${part}')
      `);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema control cascade');
  }
}
