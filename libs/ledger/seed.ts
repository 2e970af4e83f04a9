import type { Pool, PoolClient } from 'pg';
import type { Instant } from '#libs/base/instant.js';
import { plusMillis } from '#libs/base/instant.js';
import { withTransaction } from '#libs/platform/database/postgres.js';
import { columnsOf, inVault, OPENING, postOpening, type Entry, type LedgerKey } from './ledger.js';
import { publishEvidence } from './publish-evidence.js';

export interface LimitSeed {
  readonly account: string;
  /** Empty for the exposure limit, which counts over all venues. */
  readonly venue: string;
  readonly resource: 'VENUE_POSITION_LIMIT' | 'SERVICE_EXPOSURE_LIMIT';
  readonly amount: number;
}

export interface SeedMoment {
  readonly now: Instant;
  readonly evidenceTtlMillis: number;
}

/** Keeps two seeds from opening the same accounts at the same time. The constant must never change. */
export const OPENING_LOCK = 7_210_554_318;

/**
 * Opens accounts with their initial balances, as one transaction of the ledger, and publishes the evidence. An account that was
 * opened before keeps its present balance. Limits are set to those of the seed.
 */
export async function seedBalances(
  pool: Pool,
  balances: readonly Entry[],
  limits: readonly LimitSeed[],
  { now, evidenceTtlMillis }: SeedMoment,
): Promise<void> {
  await withTransaction(pool, 'read committed', async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [OPENING_LOCK]);
    await setLimits(client, limits);
    const opening = await withoutBalance(client, balances);
    if (opening.length > 0) {
      await postOpening(client, undefined, [...opening, ...counterparts(opening)], now);
    }
    const limited = limits.map(({ account, venue }): LedgerKey => ({ account, venue, asset: '' }));
    await publishEvidence(client, [...balances, ...limited], plusMillis(now, evidenceTtlMillis));
  });
}

export async function setLimits(client: PoolClient, limits: readonly LimitSeed[]): Promise<void> {
  await client.query(
    `insert into custody.limits as l (account_id, venue, resource, amount)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
     on conflict (account_id, venue, resource) do update set amount = excluded.amount where l.amount <> excluded.amount`,
    [
      limits.map((limit) => limit.account),
      limits.map((limit) => limit.venue),
      limits.map((limit) => limit.resource),
      limits.map((limit) => limit.amount),
    ],
  );
}

async function withoutBalance(client: PoolClient, balances: readonly Entry[]): Promise<Entry[]> {
  const { rows } = await client.query<Entry>(
    `select account, venue, asset, amount
     from unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) as seed (account, venue, asset, amount)
     where amount <> 0 and not exists (
       select from custody.balances b
       where (b.account_id, b.venue, b.asset) = (seed.account, seed.venue, seed.asset) and ${inVault('b')})`,
    [...columnsOf(balances), balances.map((balance) => balance.amount)],
  );
  return rows;
}

/** The entries of the opening account, so that the transaction balances. */
export function counterparts(opening: readonly Entry[]): Entry[] {
  const sums = new Map<string, Entry>();
  for (const { venue, asset, amount } of opening) {
    const name = JSON.stringify([venue, asset]);
    sums.set(name, { account: OPENING, venue, asset, amount: (sums.get(name)?.amount ?? 0) - amount });
  }
  return [...sums.values()];
}
