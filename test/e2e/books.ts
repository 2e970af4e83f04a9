import pg from 'pg';
import { assetOf } from '#libs/auction/rules/holds.js';
import { instantFromNanos } from '#libs/base/instant.js';
import { EVIDENCE_FEED_DEFAULTS } from '#libs/ledger/evidence-feed.js';
import { seedBalances } from '#libs/ledger/seed.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import type { ClusterContract } from '#libs/testing/cluster/cluster-file.js';
import type { RunningCluster } from '#libs/testing/cluster/running-cluster.js';

/** The service's own tables, read directly. Money is compared here, never through the API that moved it. */
export class ServiceRecords {
  private readonly pool: pg.Pool;

  constructor(cluster: RunningCluster) {
    this.pool = new pg.Pool({ connectionString: cluster.file.database_url, max: 2 });
    // A test that kills the database must not be killed by its idle connections.
    this.pool.on('error', () => undefined);
  }

  async rows<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.pool.query<Row>(text, values)).rows;
  }

  /**
   * The sum over all accounts, issuers included, of each asset. Debts cancel balances, so only sums other than
   * zero are returned.
   */
  async imbalances(): Promise<Record<string, string>> {
    const rows = await this.rows<{ name: string; total: string }>(
      `select venue || '/' || asset as name, sum(amount)::text as total from custody.balances
       group by venue, asset having sum(amount) <> 0`,
    );
    return Object.fromEntries(rows.map(({ name, total }) => [name, total]));
  }

  /**
   * Sums that no trade may change: the collateral at a venue plus what backs its issued tokens, and for each
   * contract YES minus NO.
   */
  async wealth(): Promise<Record<string, string>> {
    const rows = await this.rows<{ name: string; total: string }>(
      `with held as (
         select venue, asset, amount from custody.balances where account_id not like 'system:%'
       )
       select venue as name, sum(amount)::text as total from held where asset = '' or asset like '%/NO' group by venue
       union all
       select venue || '/' || regexp_replace(asset, '/(YES|NO)$', ''),
         sum(case when asset like '%/NO' then -amount else amount end)::text
       from held where asset <> '' group by 1`,
    );
    return Object.fromEntries(rows.map(({ name, total }) => [name, total]));
  }

  async collateral(account: string, venue: string): Promise<number> {
    return this.balance(account, venue, '');
  }

  /** Outcome tokens of a contract, whatever their name in the ledger. */
  async tokens(account: string, venue: string, contractId: string): Promise<number> {
    const rows = await this.rows<{ amount: string }>(
      `select coalesce(sum(amount), 0)::text as amount from custody.balances
       where account_id = $1 and venue = $2 and asset like '%' || $3 || '%'`,
      [account, venue, contractId],
    );
    return Number(rows[0]?.amount ?? 0);
  }

  /** Gives accounts outcome tokens in the same way as the demo does. */
  async stock(
    accounts: readonly string[],
    contracts: readonly ClusterContract[],
    amount: number,
  ): Promise<void> {
    const entries = accounts.flatMap((account) =>
      contracts.map((contract) => ({ account, venue: contract.venue, asset: assetOf(contract), amount })),
    );
    await seedBalances(this.pool, entries, [], {
      now: instantFromNanos(new SystemClock().epochNanos()),
      evidenceTtlMillis: EVIDENCE_FEED_DEFAULTS.ttlMillis,
    });
  }

  /** All reservations of an account, by venue, resource and asset, without zeros. */
  async reserved(account: string): Promise<Record<string, number>> {
    const rows = await this.rows<{ name: string; held: string }>(
      `select venue || '/' || resource || '/' || asset as name, (shard_0 + shard_1 + shard_2)::text as held
       from risk.reserved where account_id = $1 and shard_0 + shard_1 + shard_2 > 0 order by 1`,
      [account],
    );
    return Object.fromEntries(rows.map(({ name, held }) => [name, Number(held)]));
  }

  /** No other process reads or writes the table during the action, which the database need not survive. */
  async whileLocked(table: string, action: () => Promise<void>): Promise<void> {
    const client = await this.pool.connect();
    client.on('error', () => undefined);
    try {
      await client.query('begin');
      await client.query(`lock table ${table} in access exclusive mode`);
      await action();
    } finally {
      client.release(true);
    }
  }

  close(): Promise<void> {
    return this.pool.end();
  }

  private async balance(account: string, venue: string, asset: string): Promise<number> {
    const rows = await this.rows<{ amount: string }>(
      'select amount::text from custody.balances where (account_id, venue, asset) = ($1, $2, $3)',
      [account, venue, asset],
    );
    return Number(rows[0]?.amount ?? 0);
  }
}
