import pg from 'pg';

export interface LedgerSum {
  readonly user: string;
  readonly venue: string;
  readonly asset: string;
  readonly kind: string;
  readonly amount: bigint;
}

const TRADING = "domain in ('chain', 'kalshi_usd')";

/** The sums in the product's tables, added up again from single entries. */
export class LedgerSums {
  private readonly pool: pg.Pool;

  constructor(databaseUrl: string) {
    this.pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
    // The database may be killed while the pool is idle.
    this.pool.on('error', () => undefined);
  }

  close(): Promise<void> {
    return this.pool.end();
  }

  /** The account of each user at a venue, by `<venue>/<user>`. */
  async accounts(): Promise<ReadonlyMap<string, string>> {
    const rows = await this.rows<{ name: string; account: string }>(
      `select venue || '/' || user_id as name, account from signer.keys`,
    );
    return new Map(rows.map(({ name, account }) => [name, account]));
  }

  async sums(users: readonly string[]): Promise<LedgerSum[]> {
    const rows = await this.rows<Omit<LedgerSum, 'amount'> & { amount: string }>(
      `select account_id as user, venue, asset, kind, sum(amount)::text as amount from custody.entries
       where ${TRADING} and account_id = any($1) group by 1, 2, 3, 4`,
      [users],
    );
    return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }));
  }

  /** How often each fill of these users is booked, by fill id. */
  async bookedFills(users: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.rows<{ cause_id: string; times: string }>(
      `select cause_id, count(distinct transaction_id)::text as times
       from custody.transactions join custody.entries using (transaction_id)
       where transactions.kind = 'FILL' and account_id = any($1) group by 1`,
      [users],
    );
    return new Map(rows.map(({ cause_id, times }) => [cause_id, Number(times)]));
  }

  /**
   * The signed submissions of each order. A signer that died before answering signs the same bytes again, and
   * only one goes out.
   */
  async submitSignatures(users: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.rows<{ order_id: string; times: string }>(
      `select order_id, count(distinct (digest, body_sha256))::text as times from signer.signatures
       where user_id = any($1) and order_id is not null
         and (content ~ 'POST/trade-api/v2/portfolio/(events/)?orders$' or content ~ '"type": ?"order"')
       group by 1`,
      [users],
    );
    return new Map(rows.map(({ order_id, times }) => [order_id, Number(times)]));
  }

  async contradictions(users: readonly string[]): Promise<string[]> {
    const unbalanced = await this.rows<{ name: string }>(
      `select transaction_id::text as name from custody.entries
       group by transaction_id, domain, venue, asset having sum(amount) <> 0`,
    );
    const drifted = await this.rows<{ name: string }>(
      `select concat_ws('/', account_id, domain, venue, asset, kind) as name from custody.balances
       left join (select account_id, domain, venue, asset, kind, sum(amount) as entered from custody.entries
         group by 1, 2, 3, 4, 5) as entries using (account_id, domain, venue, asset, kind)
       where amount <> coalesce(entered, 0)`,
    );
    const differences = await this.rows<{ name: string }>(
      `select user_id || ' ' || key || ' ' || state as name from execution.holdings
       where part = 'difference' and user_id::text = any($1)`,
      [users],
    );
    return [
      ...unbalanced.map(({ name }) => `ledger: transaction ${name} does not balance`),
      ...drifted.map(({ name }) => `ledger: ${name} is not the sum of its entries`),
      ...differences.map(({ name }) => `reconciler: unexplained difference ${name}`),
    ];
  }

  private async rows<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.pool.query<Row>(text, values)).rows;
  }
}
