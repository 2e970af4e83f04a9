import type { Pool } from 'pg';
import type { Instant } from '#libs/base/instant.js';
import type { ResourceKey } from './resource-key.js';

export interface EvidenceFixture extends ResourceKey {
  readonly account: string;
  readonly amount: number;
}

export const PLENTY = 1_000_000_000_000_000;
export const FAR_AHEAD: Instant = '2999-01-01T00:00:00.000000000Z';

/** Evidence for suites without a ledger. Other resources that a trade needs are there in plenty. */
export async function stateEvidence(
  pool: Pool,
  rows: readonly EvidenceFixture[],
  validUntil: Instant = FAR_AHEAD,
): Promise<void> {
  await pool.query(
    `insert into risk.evidence (account_id, venue, resource, asset, amount, source_sequence, risk_valid_until,
       authority_valid_until)
     select *, 1, $6::timestamptz, $6::timestamptz
     from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])
     on conflict (account_id, venue, resource, asset) do update set amount = excluded.amount,
       source_sequence = risk.evidence.source_sequence + 1`,
    [
      rows.map((row) => row.account),
      rows.map((row) => row.venue),
      rows.map((row) => row.resource),
      rows.map((row) => row.asset),
      rows.map((row) => row.amount),
      validUntil,
    ],
  );
}

/** An account with this collateral on each venue, and practically no limits. */
export function funded(account: string, collateral: number, venues: readonly string[]): EvidenceFixture[] {
  return [
    { account, venue: '', resource: 'SERVICE_EXPOSURE_LIMIT', asset: '', amount: PLENTY },
    ...venues.flatMap((venue): EvidenceFixture[] => [
      { account, venue, resource: 'COLLATERAL', asset: '', amount: collateral },
      { account, venue, resource: 'VENUE_POSITION_LIMIT', asset: '', amount: PLENTY },
    ]),
  ];
}
