import type { PoolClient } from 'pg';
import type { Instant } from '#libs/base/instant.js';

/** An account in the vault. `asset` is the contract and outcome of a token, and empty for collateral. */
export interface LedgerKey {
  readonly account: string;
  readonly venue: string;
  readonly asset: string;
}

export interface Entry extends LedgerKey {
  readonly amount: number;
}

/** Restricts `balances` or `entries` to the vault. Auctions never use the other domains. */
export function inVault(row: string): string {
  return `(${row}.domain, ${row}.kind) = ('vault', 'available')`;
}

export const COLLATERAL = '';
/** The account that owes the tokens that it issued. */
export const ISSUER = 'system:issuer';
/** The account that keeps the collateral for issued tokens, and rounding remainders. */
export const ESCROW = 'system:escrow';
/** The source of all opening balances. */
export const OPENING = 'system:opening';

const POST = `
  with posted as (insert into custody.transactions (kind, recorded_at) values ('OPENING', $1) returning transaction_id)
  insert into custody.entries (transaction_id, account_id, domain, venue, asset, kind, amount)
  select transaction_id, account, 'vault', venue, asset, 'available', amount
  from posted, unnest($2::text[], $3::text[], $4::text[], $5::bigint[]) as e (account, venue, asset, amount)
  returning transaction_id`;
const NAMED = `
  insert into custody.openings (reference, transaction_id) values (coalesce($1::text, 'seed ' || $2::bigint), $2)`;

/** Posts one balanced transaction in one statement, as the database checks it, with its external reference. A seed has none. */
export async function postOpening(
  client: PoolClient,
  reference: string | undefined,
  entries: readonly Entry[],
  at: Instant,
): Promise<void> {
  const { rows } = await client.query<{ transaction_id: number }>(POST, [
    at,
    ...columnsOf(entries),
    entries.map((entry) => entry.amount),
  ]);
  const [row] = rows;
  if (row === undefined) throw new Error('a transaction needs entries');
  await client.query(NAMED, [reference, row.transaction_id]);
}

export function columnsOf(keys: readonly LedgerKey[]): [string[], string[], string[]] {
  return [keys.map((key) => key.account), keys.map((key) => key.venue), keys.map((key) => key.asset)];
}

const LOCK =
  'select account, venue, asset, amount from custody.lock_balances($1::text[], $2::text[], $3::text[])';

/** Locks the existing balances among `keys` until the end of the transaction, and returns them. */
export async function lockBalances(client: PoolClient, keys: readonly LedgerKey[]): Promise<Entry[]> {
  const query = { name: 'custody-lock', text: LOCK, values: columnsOf(keys) };
  return (await client.query<Entry>(query)).rows;
}

const ALL_ON = `
  select account_id as account, venue, asset from custody.balances b
  where (account_id, venue) in (select * from unnest($1::text[], $2::text[])) and ${inVault('b')} order by 1, 2, 3`;

/**
 * Locks all balances that determine the evidence of these accounts on these venues. Evidence written after that agrees with the
 * ledger, because a settlement locks them first too.
 */
export async function lockAllOn(
  client: PoolClient,
  pairs: readonly Pick<LedgerKey, 'account' | 'venue'>[],
): Promise<void> {
  const accounts = pairs.map(({ account }) => account);
  const { rows } = await client.query<LedgerKey>(ALL_ON, [accounts, pairs.map(({ venue }) => venue)]);
  await lockBalances(client, rows);
}
