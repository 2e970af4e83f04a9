import type { PoolClient } from 'pg';
import { plusMillis } from '#libs/base/instant.js';
import { COLLATERAL, inVault, lockAllOn, OPENING, postOpening, type Entry } from './ledger.js';
import { publishEvidence } from './publish-evidence.js';
import { counterparts, OPENING_LOCK, setLimits, type LimitSeed, type SeedMoment } from './seed.js';

export interface Opening extends Entry {
  /** The external reference of the payment or delivery. */
  readonly reference: string;
}

/**
 * `entered`: now. `known`: entered before with the same content. `different`: the reference belongs to another opening. `too
 * much`: more than sums can hold.
 */
export type OpeningResult = 'entered' | 'known' | 'different' | 'too much';

const KNOWN = `
  select account_id as account, venue, asset, amount
  from custody.openings join custody.entries using (transaction_id)
  where reference = $1 and account_id <> '${OPENING}'`;

/** The total of openings on the venue, with this one. No account and no row can exceed it. */
const TOTAL = `
  select $3::bigint - coalesce(sum(amount), 0) > ${Number.MAX_SAFE_INTEGER} as over from custody.balances b
  where (account_id, venue, asset) = ('${OPENING}', $1, $2) and ${inVault('b')}`;

/**
 * Enters what an account has paid in or delivered, once for each reference, and publishes the evidence in the same transaction.
 */
export async function enterOpening(
  client: PoolClient,
  opening: Opening,
  { now, evidenceTtlMillis }: SeedMoment,
): Promise<OpeningResult> {
  await client.query('select pg_advisory_xact_lock($1)', [OPENING_LOCK]);
  const { reference, account, venue, asset, amount } = opening;
  const [known] = (await client.query<Entry>(KNOWN, [reference])).rows;
  if (known !== undefined) return isSame(known, opening) ? 'known' : 'different';
  const entry: Entry = { account, venue, asset, amount };
  const { rows } = await client.query<{ over: boolean }>(TOTAL, [venue, asset, amount]);
  if (rows[0]?.over === true) return 'too much';
  await lockAllOn(client, [entry]);
  await postOpening(client, reference, [entry, ...counterparts([entry])], now);
  await publishEvidence(client, [entry], plusMillis(now, evidenceTtlMillis));
  return 'entered';
}

/** Locks the balances first: the free part of a position limit follows from them, and they must not change in between. */
export async function enterLimit(
  client: PoolClient,
  limit: LimitSeed,
  { now, evidenceTtlMillis }: SeedMoment,
): Promise<void> {
  await client.query('select pg_advisory_xact_lock($1)', [OPENING_LOCK]);
  const { account, venue } = limit;
  await lockAllOn(client, [{ account, venue }]);
  await setLimits(client, [limit]);
  await publishEvidence(client, [{ account, venue, asset: COLLATERAL }], plusMillis(now, evidenceTtlMillis));
}

function isSame(one: Entry, other: Entry): boolean {
  return (
    one.account === other.account &&
    one.venue === other.venue &&
    one.asset === other.asset &&
    one.amount === other.amount
  );
}
