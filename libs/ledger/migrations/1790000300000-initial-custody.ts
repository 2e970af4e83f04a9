import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * An account of the ledger. Its owner is a customer or the system; the asset is empty for collateral. A domain is where it is held, and one
 * reserver promises from it: auctions from the `vault`, where all is `available`. Venues of one domain never balance each other.
 */
const ACCOUNT = `
    account_id text not null,
    domain text not null check (domain in ('vault', 'chain', 'kalshi_usd')),
    venue text not null,
    asset text not null,
    kind text not null check (kind in ('available', 'held', 'in_transit', 'position', 'fee', 'external'))`;

/**
 * - `settlements` says of each award how it ended, and with venue, asset and delivered atoms all that it takes to settle it again just so:
 *   the event that confirms it carries them.
 * - `openings` has what somebody outside calls the payment or delivery that an opening enters: entered again, it enters nothing.
 */
const TABLES = `
  create schema custody;

  create table custody.balances (${ACCOUNT},
    amount bigint not null,
    primary key (account_id, domain, venue, asset, kind),
    constraint only_issuers_owe check (
      amount >= 0 or account_id in ('system:issuer', 'system:opening')
      or domain <> 'vault' and kind in ('available', 'fee', 'external'))
  ) with (fillfactor = 60);

  create table custody.transactions (
    transaction_id bigint generated always as identity primary key,
    kind text not null check (kind in ('OPENING', 'SETTLEMENT')),
    recorded_at timestamptz not null
  );

  create table custody.entries (
    transaction_id bigint not null references custody.transactions,${ACCOUNT},
    amount bigint not null check (amount <> 0),
    primary key (transaction_id, account_id, domain, venue, asset, kind)
  );

  create table custody.settlements (
    award_id uuid primary key,
    outcome text not null check (outcome in ('SETTLED', 'FAILED')),
    reason text,
    venue text,
    transaction_id bigint unique references custody.transactions,
    recorded_at timestamptz not null,
    asset text,
    delivered_atoms bigint check (delivered_atoms >= 0),
    check (outcome = 'SETTLED' or (transaction_id is null and reason is not null))
  );

  create table custody.openings (
    reference text primary key,
    transaction_id bigint not null unique references custody.transactions
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
 * Double entry is the database's own rule: entries that do not balance per domain, venue and asset are refused, balances follow from entries
 * alone, and what was entered stays. No login needs a right to `balances`: the trigger acts with the rights of the owner of the tables.
 */
const LEDGER = `
  create function custody.post_entries() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  begin
    if exists (
      select from posted group by transaction_id, domain, venue, asset having sum(amount) <> 0
    ) then
      raise exception 'entries do not balance' using errcode = 'integrity_constraint_violation';
    end if;
    insert into custody.balances (account_id, domain, venue, asset, kind, amount)
    select distinct account_id, domain, venue, asset, kind, 0 from posted order by 1, 2, 3, 4, 5
    on conflict do nothing;
    perform from custody.balances b join posted using (account_id, domain, venue, asset, kind)
    order by account_id, domain, venue, asset, kind for update of b;
    update custody.balances b set amount = b.amount + p.amount
    from (select account_id, domain, venue, asset, kind, sum(amount) as amount from posted group by 1, 2, 3, 4, 5) p
    where (b.account_id, b.domain, b.venue, b.asset, b.kind) = (p.account_id, p.domain, p.venue, p.asset, p.kind);
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
  create trigger openings_stay before update or delete or truncate on custody.openings
  for each statement execute function custody.refuse_change();
`;

/** PostgreSQL lets only those lock rows who may change them, so locking is a function too; it locks nothing outside the vault. */
const LOCK = `
  create function custody.lock_balances(accounts text[], venues text[], assets text[])
  returns table (account text, venue text, asset text, amount bigint)
  language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
    select b.account_id, b.venue, b.asset, b.amount from custody.balances b
    where (b.account_id, b.venue, b.asset) in (select * from unnest(accounts, venues, assets))
      and (b.domain, b.kind) = ('vault', 'available')
    order by 1, 2, 3 for update
  $$;
  revoke all on function custody.lock_balances(text[], text[], text[]) from public;
`;

/**
 * Settlements go through two functions and no other way: the settlers' login can enter no opening, no second transaction of an award, and
 * none that creates collateral or tokens without backing. Whether these are the journals' awards is for `journal -- verify` to say.
 */
const SETTLE = `
  create function custody.claim_settlement(award uuid) returns boolean
  language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
    with claimed as (
      insert into custody.settlements (award_id, outcome, recorded_at) values (award, 'SETTLED', clock_timestamp())
      on conflict do nothing returning 1
    )
    select exists (select from claimed)
  $$;

  create function custody.post_settlement(
    award uuid, place text, token text, delivered bigint, accounts text[], assets text[], amounts bigint[]
  ) returns bigint
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
  declare
    posted bigint;
    issued bigint;
    pairs int;
    backing numeric;
    strange boolean;
  begin
    select count(*) filter (where account = 'system:issuer'),
      coalesce(max(-amount) filter (where account = 'system:issuer'), 0),
      coalesce(sum(amount) filter (where account = 'system:escrow'), 0),
      count(distinct account) filter (where account not like 'system:%') > 2
        or count(distinct split_part(asset, '/', 1)) filter (where asset <> '') > 1
        or bool_or(account like 'system:%' and account not in ('system:issuer', 'system:escrow'))
        or bool_or(account = 'system:escrow' and (asset <> '' or amount < 0))
        or bool_or(account = 'system:issuer' and (asset = '' or amount >= 0))
    into pairs, issued, backing, strange
    from unnest(accounts, assets, amounts) as line (account, asset, amount);
    -- Of no lines at all nothing is known.
    if coalesce(strange, true) or pairs not in (0, 2) or backing < issued or exists (
      select from unnest(accounts, amounts) as line (account, amount)
      where account = 'system:issuer' and amount <> -issued
    ) then
      raise exception 'no award is settled by such entries' using errcode = 'integrity_constraint_violation';
    end if;
    insert into custody.transactions (kind, recorded_at) values ('SETTLEMENT', clock_timestamp())
    returning transaction_id into posted;
    insert into custody.entries (transaction_id, account_id, domain, venue, asset, kind, amount)
    select posted, account, 'vault', place, asset, 'available', amount
    from unnest(accounts, assets, amounts) as line (account, asset, amount);
    update custody.settlements
    set venue = place, asset = token, delivered_atoms = delivered, transaction_id = posted, recorded_at = clock_timestamp()
    where award_id = award and outcome = 'SETTLED' and transaction_id is null;
    if not found then
      raise exception 'award % is not claimed', award using errcode = 'integrity_constraint_violation';
    end if;
    return posted;
  end
  $$;
  revoke all on function custody.claim_settlement(uuid) from public;
  revoke all on function custody.post_settlement(uuid, text, text, bigint, text[], text[], bigint[]) from public;
`;

/** Between the claim of an award and its entries lies one transaction of the database; nothing else of what stands is ever changed. */
const GUARDS = `
  create function custody.keep_settlement() returns trigger language plpgsql as $$
  begin
    if old.outcome = 'SETTLED' and old.transaction_id is null and (new.award_id, new.outcome) = (old.award_id, old.outcome) then
      return new;
    end if;
    raise exception 'settlements is append-only' using errcode = 'integrity_constraint_violation';
  end
  $$;
  create trigger settlements_stay before update on custody.settlements
  for each row execute function custody.keep_settlement();
  create trigger settlements_remain before delete or truncate on custody.settlements
  for each statement execute function custody.refuse_change();

  create function custody.require_transaction() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
  begin
    if exists (
      select from custody.settlements s where s.award_id = new.award_id and s.outcome = 'SETTLED' and not exists (
        select from custody.transactions t where t.transaction_id = s.transaction_id and t.kind = 'SETTLEMENT')
    ) then
      raise exception 'no transaction has settled award %', new.award_id using errcode = 'integrity_constraint_violation';
    end if;
    return null;
  end
  $$;
  create constraint trigger settled_by_a_transaction after insert or update on custody.settlements
  deferrable initially deferred for each row execute function custody.require_transaction();
`;

export class InitialCustody1790000300000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
    await runner.query(LEDGER);
    await runner.query(LOCK);
    await runner.query(SETTLE);
    await runner.query(GUARDS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema custody cascade');
  }
}
