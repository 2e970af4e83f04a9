import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Balances change by entries and in no other way, whoever is connected: the trigger acts with the rights of the ledger's owner, and
 * nobody else needs any on `balances`. PostgreSQL lets rows be locked by those alone who may change them, so locking is a function too.
 */
const RIGHTS = `
  alter function custody.post_entries() security definer set search_path = pg_catalog, pg_temp;

  create function custody.lock_balances(accounts text[], venues text[], assets text[])
  returns table (account text, venue text, asset text, amount bigint)
  language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
    select b.account_id, b.venue, b.asset, b.amount from custody.balances b
    where (b.account_id, b.venue, b.asset) in (select * from unnest(accounts, venues, assets))
    order by 1, 2, 3 for update
  $$;
  revoke all on function custody.lock_balances(text[], text[], text[]) from public;
`;

export class LedgerRights1790000301000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(RIGHTS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop function custody.lock_balances(text[], text[], text[])');
    await runner.query('alter function custody.post_entries() security invoker reset search_path');
  }
}
