import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Settlements go through two functions and no other way, so whoever has the executor's login can enter nothing else: no opening, no second
 * transaction of an award, none that creates collateral or tokens that nothing stands behind. The ledger cannot know awards; that these
 * are those of the journals is for `journal -- verify` to say.
 */
const FUNCTIONS = `
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
    insert into custody.entries (transaction_id, account_id, venue, asset, amount)
    select posted, account, place, asset, amount
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
  alter table custody.settlements add constraint settlements_transaction_id_key unique (transaction_id);

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

/** Openings of the demo had no reference before; what stands here now is believed once. */
const FORMER = `
  insert into custody.openings (reference, transaction_id)
  select 'of before references ' || transaction_id, transaction_id from custody.transactions t
  where kind = 'OPENING' and not exists (select from custody.openings o where o.transaction_id = t.transaction_id);
`;

export class LedgerGates1790000304000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(FUNCTIONS);
    await runner.query(GUARDS);
    await runner.query(FORMER);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop trigger settled_by_a_transaction on custody.settlements;
      drop trigger settlements_remain on custody.settlements;
      drop trigger settlements_stay on custody.settlements;
      alter table custody.settlements drop constraint settlements_transaction_id_key;
      drop function custody.require_transaction();
      drop function custody.keep_settlement();
      drop function custody.post_settlement(uuid, text, text, bigint, text[], text[], bigint[]);
      drop function custody.claim_settlement(uuid)`);
  }
}
