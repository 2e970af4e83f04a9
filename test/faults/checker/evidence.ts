import type pg from 'pg';
import { checkStated } from '../../simulator/oracle/stated-means.js';
import { keyOf } from '../../simulator/storage/tables.js';
import type { Findings } from './findings.js';

interface Row {
  readonly account_id: string;
  readonly venue: string;
  readonly amount: number;
}

interface Means {
  readonly balances: readonly (Row & { readonly asset: string })[];
  readonly limits: readonly (Row & { readonly resource: string })[];
  readonly evidence: readonly (Row & { readonly resource: string; readonly asset: string })[];
}

/** One statement, so that all values are of one moment: a settlement changes all or none of them. */
const MEANS = `
  select (select coalesce(json_agg(b), '[]') from custody.balances b) as balances,
    (select coalesce(json_agg(l), '[]') from custody.limits l) as limits,
    (select coalesce(json_agg(e), '[]') from risk.evidence e) as evidence`;

/**
 * Compares the evidence that admission uses with the ledger. The service corrects differences within half a
 * minute, so the check is repeated.
 */
export async function checkEvidence(pool: Pick<pg.Pool, 'query'>, findings: Findings): Promise<void> {
  const { rows } = await pool.query<Means>(MEANS);
  for (const { balances, limits, evidence } of rows) {
    const has = balances.map((row) => [keyOf(row.account_id, row.venue, row.asset), row.amount] as const);
    const may = limits.map(({ account_id: account, venue, resource, amount }) => {
      return [keyOf(account, venue, resource), { account, venue, amount }] as const;
    });
    const told = evidence.map(({ account_id: account, venue, resource, asset, amount }) => {
      return [keyOf(account, venue, resource, asset), { amount }] as const;
    });
    const means = { limits: { rows: new Map(may) }, evidence: { rows: new Map(told) } };
    findings.look('looks at evidence', () => checkStated(means, new Map(has)));
  }
}
