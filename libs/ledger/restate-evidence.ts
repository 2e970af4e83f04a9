import type { Pool } from 'pg';
import type { Instant } from '#libs/base/instant.js';
import { withTransaction } from '#libs/platform/database/postgres.js';
import { lockAllOn, type LedgerKey } from './ledger.js';
import { publishEvidence } from './publish-evidence.js';
import { IS_SPOILED, STATED_AMOUNT } from './stated-amount.js';

/** Settlements hold their rows for less. Rows that are locked for longer wait for the next round. */
const LOCK_WAIT_MS = 1_000;

/**
 * Keeps `settled` if it can be true, because nothing was settled here. If it cannot, the reservations of running settlements may
 * contradict the evidence until they are released.
 */
const RESTATE = `
  update risk.evidence e set
    amount = s.amount,
    settled = case when e.settled between 0 and ${Number.MAX_SAFE_INTEGER} then e.settled else 0 end,
    source_sequence = case when e.source_sequence between 1 and ${Number.MAX_SAFE_INTEGER - 1} then e.source_sequence + 1 else 1 end,
    risk_valid_until = $3, authority_valid_until = $3
  from (
    select account_id, venue, resource, asset, ${STATED_AMOUNT} as amount from risk.evidence v
    where (account_id, venue) in (select * from unnest($1::text[], $2::text[])) and ${IS_SPOILED}
  ) s
  where (e.account_id, e.venue, e.resource, e.asset) = (s.account_id, s.venue, s.resource, s.asset)`;

/**
 * Sets the evidence of these accounts on these venues to the ledger's amounts. Locks the balances before the evidence, as a
 * settlement does, so the amounts are still right when the evidence is written.
 */
export async function restateEvidence(
  pool: Pool,
  keys: readonly LedgerKey[],
  validUntil: Instant,
): Promise<void> {
  const columns = [keys.map(({ account }) => account), keys.map(({ venue }) => venue)];
  await withTransaction(pool, 'read committed', async (client) => {
    await client.query(`select set_config('lock_timeout', $1, true)`, [String(LOCK_WAIT_MS)]);
    await lockAllOn(client, keys);
    await client.query(RESTATE, [...columns, validUntil]);
    await publishEvidence(client, keys, validUntil);
  });
}
