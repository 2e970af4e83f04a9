import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * An account of the ledger, owned by a customer or the system. The asset is empty for collateral. A domain is where it is held,
 * and only one part of the product reserves from it: auctions from the `vault`, where all is `available`. Entries balance for
 * each venue alone.
 */
const ACCOUNT = `
    account_id text not null,
    domain text not null check (domain in ('vault', 'chain', 'kalshi_usd')),
    venue text not null,
    asset text not null,
    kind text not null check (kind in ('available', 'held', 'in_transit', 'position', 'fee', 'external'))`;

/** The kinds of transactions in the trading domains, in the words of the interface. `cause_id` names the cause. */
const BOOKED = [
  ...['DEPOSIT', 'WITHDRAWAL', 'TRANSFER', 'FILL', 'FEE', 'HOLD', 'RELEASE', 'MERGE', 'REDEEM', 'EXTERNAL'],
];

/**
 * `settlements`: how each award ended, with venue, asset and delivered atoms, so that it can be settled again in the same way;
 * the event that confirms the award carries them. `openings`: the external reference of a payment or delivery, so that it is
 * entered once.
 */
const TABLES = `
  create schema custody;

  create table custody.balances (${ACCOUNT},
    amount bigint not null,
    primary key (account_id, domain, venue, asset, kind),
    constraint only_issuers_owe check (
      amount >= 0 or account_id in ('system:issuer', 'system:opening')
      or domain <> 'vault' and kind in ('available', 'position', 'fee', 'external'))
  ) with (fillfactor = 60);

  create table custody.transactions (
    transaction_id bigint generated always as identity primary key,
    kind text not null check (kind in ('OPENING', 'SETTLEMENT', ${BOOKED.map((kind) => `'${kind}'`).join(', ')})),
    recorded_at timestamptz not null,
    cause_id text,
    constraint bookings_name_causes check ((kind in ('OPENING', 'SETTLEMENT')) = (cause_id is null))
  );
  create unique index transactions_booked_once on custody.transactions (kind, cause_id) where kind in ('FILL', 'FEE');

  create table custody.entries (
    transaction_id bigint not null references custody.transactions,${ACCOUNT},
    amount bigint not null check (amount <> 0),
    entry_id bigint generated always as identity unique,
    primary key (transaction_id, account_id, domain, venue, asset, kind)
  );
  create index on custody.entries (account_id, entry_id) where account_id not like 'system:%';
  create index on custody.entries (account_id, asset, entry_id) where account_id not like 'system:%';
  create index on custody.entries (account_id, domain, entry_id) where account_id not like 'system:%';

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
 * The database itself enforces double entry. It refuses entries that do not balance per domain, venue and asset; balances follow
 * from entries alone; entries stay. No login needs a right to `balances`, because the trigger runs with the rights of the table
 * role.
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

/**
 * Books once what cells have journaled. `booking_offsets` says up to where; `booked` keeps the orders and transfers that later
 * events refer to. Bookings stay outside the vault: only the functions of transfers cross its border.
 */
const BOOKING = `
  create table custody.booking_offsets (
    shard smallint primary key check (shard >= 0),
    epoch integer not null,
    sequence bigint not null check (sequence >= 0),
    hash bytea not null check (octet_length(hash) = 32)
  );

  create table custody.booked (
    id uuid primary key,
    cell smallint not null,
    account_id text not null,
    venue text not null,
    market_id text not null,
    asset text not null,
    state text not null
  );
  create index on custody.booked (account_id, venue, market_id, asset);

  create function custody.book(
    kinds text[], causes text[], numbers int[], accounts text[], domains text[], venues text[], assets text[], entry_kinds text[],
    amounts bigint[]
  ) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
  begin
    if exists (select from unnest(kinds) as k (kind) where kind in ('OPENING', 'SETTLEMENT')) or exists (
      select from unnest(accounts, domains, entry_kinds) as e (account, domain, kind)
      where domain = 'vault' or account like 'system:%' and (account not in ('system:venue', 'system:bridge') or kind <> 'external')
    ) then
      raise exception 'this is no booking of a trading domain' using errcode = 'integrity_constraint_violation';
    end if;
    with numbered as materialized (
      select number, kind, cause, nextval('custody.transactions_transaction_id_seq') as transaction_id
      from unnest(kinds, causes) with ordinality as t (kind, cause, number)
    ),
    posted as (
      insert into custody.transactions (transaction_id, kind, cause_id, recorded_at) overriding system value
      select transaction_id, kind, cause, clock_timestamp() from numbered order by number
      on conflict do nothing returning transaction_id
    )
    insert into custody.entries (transaction_id, account_id, domain, venue, asset, kind, amount)
    select transaction_id, account, domain, venue, asset, e.kind, amount
    from unnest(numbers, accounts, domains, venues, assets, entry_kinds, amounts) with ordinality
      as e (number, account, domain, venue, asset, kind, amount, place)
    join numbered using (number) join posted using (transaction_id) order by place;
  end
  $$;
  revoke all on function custody.book(text[], text[], int[], text[], text[], text[], text[], text[], bigint[]) from public;
`;

/**
 * The vault's side of transfers. Only what no auction has set aside may leave the vault: the update of the reserved amounts makes
 * a concurrent reservation fail. What has left cannot be promised, because the evidence changes in the same transaction. Each
 * step takes effect once.
 */
const TRANSFERS = `
  create table custody.transfers (
    transfer_id uuid primary key,
    account_id text not null,
    venue text not null,
    asset text not null,
    amount bigint not null check (amount > 0),
    direction text not null check (direction in ('from_vault', 'to_vault')),
    status text not null check (status in ('HELD', 'SENT', 'COMPLETED', 'FAILED')),
    recorded_at timestamptz not null
  );
  create index on custody.transfers (recorded_at) where status in ('HELD', 'SENT');

  create function custody.post_transfer(transfer custody.transfers, source text, owner text, target text) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
  declare
    posted bigint;
  begin
    insert into custody.transactions (kind, cause_id, recorded_at) values ('TRANSFER', transfer.transfer_id, clock_timestamp())
    returning transaction_id into posted;
    insert into custody.entries (transaction_id, account_id, domain, venue, asset, kind, amount) values
      (posted, case source when 'opening' then 'system:opening' else transfer.account_id end, 'vault', transfer.venue, transfer.asset,
       case source when 'opening' then 'available' else source end, -transfer.amount),
      (posted, owner, 'vault', transfer.venue, transfer.asset, target, transfer.amount);
  end
  $$;

  create function custody.state_evidence(account text, place text, token text) returns void
  language sql volatile set search_path = pg_catalog, pg_temp as $$
    insert into risk.evidence as e (account_id, venue, resource, asset, amount, source_sequence, risk_valid_until, authority_valid_until)
    select account_id, venue, case asset when '' then 'COLLATERAL' else 'OUTCOME_TOKEN' end, asset, amount, 1,
      clock_timestamp() + interval '60 seconds', clock_timestamp() + interval '60 seconds'
    from custody.balances b
    where (b.account_id, b.venue, b.asset) = (account, place, token) and (b.domain, b.kind) = ('vault', 'available')
    on conflict (account_id, venue, resource, asset) do update
      set amount = excluded.amount, source_sequence = e.source_sequence + 1 where e.amount <> excluded.amount;
    update risk.evidence e set amount = s.amount, source_sequence = e.source_sequence + 1
    from (
      select greatest(0, l.amount - coalesce((
        select sum(b.amount)::bigint from custody.balances b
        where (b.account_id, b.venue) = (account, place) and b.asset <> '' and (b.domain, b.kind) = ('vault', 'available')), 0)) as amount
      from custody.limits l where (l.account_id, l.venue, l.resource) = (account, place, 'VENUE_POSITION_LIMIT')
    ) s
    where token <> '' and (e.account_id, e.venue, e.resource, e.asset) = (account, place, 'VENUE_POSITION_LIMIT', '')
      and e.amount <> s.amount;
  $$;

  create function custody.hold_transfer(transfer uuid, account text, place text, token text, atoms bigint) returns text
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
  declare
    held custody.transfers;
    available bigint;
    stated bigint;
    set_aside bigint;
    name text := case token when '' then 'COLLATERAL' else 'OUTCOME_TOKEN' end;
  begin
    insert into custody.transfers values (transfer, account, place, token, atoms, 'from_vault', 'HELD', clock_timestamp())
    on conflict do nothing returning * into held;
    if held.transfer_id is null then
      return 'known';
    end if;
    select b.amount into available from custody.balances b
    where (b.account_id, b.venue, b.asset) = (account, place, token) and (b.domain, b.kind) = ('vault', 'available') for update;
    select e.amount into stated from risk.evidence e
    where (e.account_id, e.venue, e.resource, e.asset) = (account, place, name, token) for update;
    update risk.reserved r set shard_0 = r.shard_0
    where (r.account_id, r.venue, r.resource, r.asset) = (account, place, name, token)
    returning r.shard_0 + r.shard_1 + r.shard_2 into set_aside;
    if coalesce(least(available, stated) - set_aside < atoms, true) then
      delete from custody.transfers t where t.transfer_id = transfer;
      return 'too little';
    end if;
    perform custody.post_transfer(held, 'available', account, 'held');
    perform custody.state_evidence(account, place, token);
    return 'held';
  end
  $$;

  create function custody.send_transfer(transfer uuid) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
  declare
    sent custody.transfers;
  begin
    update custody.transfers t set status = 'SENT'
    where t.transfer_id = transfer and t.direction = 'from_vault' and t.status = 'HELD' returning * into sent;
    if sent.transfer_id is null then
      return false;
    end if;
    perform custody.post_transfer(sent, 'held', sent.account_id, 'in_transit');
    return true;
  end
  $$;

  create function custody.end_transfer(transfer uuid, is_done boolean) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
  declare
    before custody.transfers;
    source text;
  begin
    select * into before from custody.transfers t
    where t.transfer_id = transfer and t.direction = 'from_vault' and t.status in ('HELD', 'SENT') for update;
    if before.transfer_id is null then
      return false;
    end if;
    source := case before.status when 'HELD' then 'held' else 'in_transit' end;
    if is_done then
      perform custody.post_transfer(before, source, 'system:opening', 'available');
    else
      perform custody.post_transfer(before, source, before.account_id, 'available');
      perform custody.state_evidence(before.account_id, before.venue, before.asset);
    end if;
    update custody.transfers t set status = case when is_done then 'COMPLETED' else 'FAILED' end where t.transfer_id = transfer;
    return true;
  end
  $$;

  create function custody.receive_transfer(transfer uuid, account text, place text, token text, atoms bigint) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
  declare
    received custody.transfers;
  begin
    insert into custody.transfers values (transfer, account, place, token, atoms, 'to_vault', 'COMPLETED', clock_timestamp())
    on conflict do nothing returning * into received;
    if received.transfer_id is null then
      return false;
    end if;
    perform custody.post_transfer(received, 'opening', account, 'available');
    perform custody.state_evidence(account, place, token);
    return true;
  end
  $$;
  revoke all on function custody.post_transfer(custody.transfers, text, text, text) from public;
  revoke all on function custody.state_evidence(text, text, text) from public;
  revoke all on function custody.hold_transfer(uuid, text, text, text, bigint) from public;
  revoke all on function custody.send_transfer(uuid) from public;
  revoke all on function custody.end_transfer(uuid, boolean) from public;
  revoke all on function custody.receive_transfer(uuid, text, text, text, bigint) from public;
`;

/** PostgreSQL requires the right to update for row locks, so locking is a function too. It locks nothing outside the vault. */
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
 * Settlements go through two functions only. With them the settlers' login can enter no opening, no second transaction of an
 * award, and none that creates collateral or tokens without backing. Whether the awards are those of the journals is for `journal
 * -- verify` to check.
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

/** One transaction of the database claims an award and adds its entries. Nothing else of an existing settlement ever changes. */
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
    await runner.query(BOOKING);
    await runner.query(TRANSFERS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema custody cascade');
  }
}
