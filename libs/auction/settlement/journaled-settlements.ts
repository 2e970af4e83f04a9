import type { PoolClient } from 'pg';
import type { AwardSettlement } from '../rules/events.js';
import { plusMillis } from '#libs/base/instant.js';
import { columnsOf, inVault, ESCROW, ISSUER, type Entry, type LedgerKey } from '#libs/ledger/ledger.js';
import { publishEvidence } from '#libs/ledger/publish-evidence.js';
import { OPENING_LOCK, type SeedMoment } from '#libs/ledger/seed.js';
import type { AwardToSettle } from './settlement.js';
import { entriesAsSettled } from './settlement-plan.js';

/** An award that was settled according to a journal, and that a restored ledger lacks. */
export interface SettledAward {
  readonly award: AwardToSettle;
  readonly settlement: AwardSettlement;
}

/** An award that was given up according to a journal, and that a restored ledger lacks. */
export interface FailedAward {
  readonly award_id: string;
  readonly reason: string;
}

/** The amount that an account lacks for all of the settlements. */
export type Shortfall = Entry;

const BALANCES = `
  select account_id as account, venue, asset, amount from custody.balances b
  where (account_id, venue, asset) in (select * from unnest($1::text[], $2::text[], $3::text[])) and ${inVault('b')}`;

const TRANSACTIONS = `
  insert into custody.transactions (kind, recorded_at) select 'SETTLEMENT', $2 from generate_series(1, $1)
  returning transaction_id`;
const ENTRIES = `
  insert into custody.entries (transaction_id, account_id, domain, venue, asset, kind, amount)
  select transaction_id, account, 'vault', venue, asset, 'available', amount
  from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[]) as entry (transaction_id, account, venue, asset, amount)`;
const SETTLEMENTS = `
  insert into custody.settlements (award_id, outcome, transaction_id, venue, asset, delivered_atoms, recorded_at)
  select award_id, 'SETTLED', transaction_id, venue, asset, delivered_atoms, $6
  from unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::bigint[])
    as said (award_id, transaction_id, venue, asset, delivered_atoms)`;
const FAILURES = `
  insert into custody.settlements (award_id, outcome, reason, recorded_at)
  select award_id, 'FAILED', reason, $3 from unnest($1::uuid[], $2::text[]) as said (award_id, reason)`;

/** Takes the lock of openings until the transaction ends. No payment is entered meanwhile, so what is covered stays covered. */
export async function shortfallsOf(
  client: PoolClient,
  settled: readonly SettledAward[],
): Promise<Shortfall[]> {
  await client.query('select pg_advisory_xact_lock($1)', [OPENING_LOCK]);
  const sums = new Map<string, Entry>();
  for (const entry of settled.flatMap(entriesOf).filter(isOfParty)) {
    const name = nameOf(entry);
    sums.set(name, { ...entry, amount: (sums.get(name)?.amount ?? 0) + entry.amount });
  }
  const taken = [...sums.values()].filter(({ amount }) => amount < 0);
  const { rows } = await client.query<Entry>(BALANCES, columnsOf(taken));
  const balances = new Map(rows.map((row) => [nameOf(row), row.amount]));
  return taken
    .map((entry) => ({ ...entry, amount: -entry.amount - (balances.get(nameOf(entry)) ?? 0) }))
    .filter(({ amount }) => amount > 0);
}

/**
 * Posts all settlements in one statement. Their order across shards is unknown, and one may need what another brought in. Each
 * settlement balances in itself, so only an account's final balance must not be negative.
 */
export async function settleAsJournaled(
  client: PoolClient,
  settled: readonly SettledAward[],
  { now, evidenceTtlMillis }: SeedMoment,
): Promise<void> {
  if (settled.length === 0) return;
  const inserted = await client.query<{ transaction_id: number }>(TRANSACTIONS, [settled.length, now]);
  const ids = inserted.rows.map(({ transaction_id: id }) => id);
  const lines = settled.flatMap((one, index) => entriesOf(one).map((entry) => ({ entry, id: ids[index] })));
  const entries = lines.map(({ entry }) => entry);
  const amounts = entries.map(({ amount }) => amount);
  await client.query(ENTRIES, [lines.map(({ id }) => id), ...columnsOf(entries), amounts]);
  await client.query(SETTLEMENTS, [
    settled.map(({ award }) => award.award_id),
    ids,
    settled.map(({ settlement }) => settlement.venue),
    settled.map(({ settlement }) => settlement.asset),
    settled.map(({ settlement }) => settlement.delivered_atoms),
    now,
  ]);
  await publishEvidence(client, entries.filter(isOfParty), plusMillis(now, evidenceTtlMillis));
}

export async function failAsJournaled(
  client: PoolClient,
  failed: readonly FailedAward[],
  { now }: Pick<SeedMoment, 'now'>,
): Promise<void> {
  await client.query(FAILURES, [
    failed.map(({ award_id: id }) => id),
    failed.map(({ reason }) => reason),
    now,
  ]);
}

function entriesOf({ award, settlement }: SettledAward): readonly Entry[] {
  const entries = entriesAsSettled(award, settlement);
  if (entries === undefined)
    throw new Error(`award ${award.award_id} cannot have been settled as its journal says`);
  return entries;
}

/** True for the parties: not for the issuer, whose balance may be negative, nor for escrow, from which no settlement takes. */
function isOfParty({ account }: LedgerKey): boolean {
  return account !== ISSUER && account !== ESCROW;
}

function nameOf({ account, venue, asset }: LedgerKey): string {
  return JSON.stringify([account, venue, asset]);
}
