import type { PoolClient } from 'pg';
import type { Instant } from '#libs/base/instant.js';
import { columnsOf, inVault, type LedgerKey } from './ledger.js';
import { STATED_AMOUNT } from './stated-amount.js';

/**
 * Absolute amounts from the ledger, so that evidence never drifts from it. A reduction counts as settled, because holds are
 * released only afterwards.
 */
const PUBLISH = `
  with touched as (select distinct t.* from unnest($1::text[], $2::text[], $3::text[]) as t (account_id, venue, asset)),
  concerned as (
    select account_id, venue, case asset when '' then 'COLLATERAL' else 'OUTCOME_TOKEN' end as resource, asset
    from custody.balances b join touched using (account_id, venue, asset) where ${inVault('b')}
    union all
    select account_id, venue, resource, ''
    from custody.limits join (select distinct account_id, venue from touched) t using (account_id, venue)
  ),
  stated as (select v.*, ${STATED_AMOUNT} as amount from concerned v)
  insert into risk.evidence as e
    (account_id, venue, resource, asset, amount, source_sequence, risk_valid_until, authority_valid_until)
  select account_id, venue, resource, asset, amount, 1, $4::timestamptz, $4::timestamptz from stated order by 1, 2, 3, 4
  on conflict (account_id, venue, resource, asset) do update set
    amount = excluded.amount,
    settled = e.settled + greatest(0, e.amount - excluded.amount),
    source_sequence = e.source_sequence + 1
  where e.amount <> excluded.amount`;

/** Publishes the present ledger amounts of these accounts to admission. `validUntil` applies to new rows only. */
export async function publishEvidence(
  client: PoolClient,
  touched: readonly LedgerKey[],
  validUntil: Instant,
): Promise<void> {
  await client.query({ name: 'custody-publish', text: PUBLISH, values: [...columnsOf(touched), validUntil] });
}
