import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = `
  create schema custody;

  create table custody.balances (
    account_id text not null,
    venue text not null,
    asset text not null,
    amount bigint not null,
    primary key (account_id, venue, asset),
    constraint only_issuers_owe check (amount >= 0 or account_id in ('system:issuer', 'system:opening'))
  ) with (fillfactor = 60);

  create table custody.transactions (
    transaction_id bigint generated always as identity primary key,
    kind text not null check (kind in ('OPENING', 'SETTLEMENT')),
    recorded_at timestamptz not null
  );

  create table custody.entries (
    transaction_id bigint not null references custody.transactions,
    account_id text not null,
    venue text not null,
    asset text not null,
    amount bigint not null check (amount <> 0),
    primary key (transaction_id, account_id, venue, asset)
  );

  create table custody.settlements (
    award_id uuid primary key,
    outcome text not null check (outcome in ('SETTLED', 'FAILED')),
    reason text,
    venue text,
    transaction_id bigint references custody.transactions,
    recorded_at timestamptz not null,
    check (outcome = 'SETTLED' or (transaction_id is null and reason is not null))
  );

  create table custody.limits (
    account_id text not null,
    venue text not null,
    resource text not null check (resource in ('VENUE_POSITION_LIMIT', 'SERVICE_EXPOSURE_LIMIT')),
    amount bigint not null check (amount >= 0),
    primary key (account_id, venue, resource)
  );
`;

/**
 * Double entry is the database's own rule: entries that do not balance per venue and asset are refused, balances follow from
 * entries alone, and what was entered stays.
 */
const LEDGER = `
  create function custody.post_entries() returns trigger language plpgsql as $$
  begin
    if exists (
      select from posted group by transaction_id, venue, asset having sum(amount) <> 0
    ) then
      raise exception 'entries do not balance' using errcode = 'integrity_constraint_violation';
    end if;
    insert into custody.balances (account_id, venue, asset, amount)
    select distinct account_id, venue, asset, 0 from posted order by 1, 2, 3
    on conflict do nothing;
    perform from custody.balances b join posted using (account_id, venue, asset)
    order by account_id, venue, asset for update of b;
    update custody.balances b set amount = b.amount + p.amount
    from (select account_id, venue, asset, sum(amount) as amount from posted group by 1, 2, 3) p
    where (b.account_id, b.venue, b.asset) = (p.account_id, p.venue, p.asset);
    return null;
  end
  $$;
  create trigger post_entries after insert on custody.entries
  referencing new table as posted for each statement execute function custody.post_entries();

  create function custody.refuse_change() returns trigger language plpgsql as $$
  begin
    raise exception '% is append-only', tg_table_name using errcode = 'integrity_constraint_violation';
  end
  $$;
  create trigger entries_stay before update or delete or truncate on custody.entries
  for each statement execute function custody.refuse_change();
  create trigger transactions_stay before update or delete or truncate on custody.transactions
  for each statement execute function custody.refuse_change();
`;

export class CustodySchema1790000300000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
    await runner.query(LEDGER);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema custody cascade');
  }
}
