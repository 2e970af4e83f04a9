import type { Pool, PoolClient } from 'pg';
import { instantFromNanos } from '#libs/base/instant.js';
import { EVIDENCE_FEED_DEFAULTS } from '#libs/ledger/evidence-feed.js';
import {
  failAsJournaled,
  settleAsJournaled,
  shortfallsOf,
  type Shortfall,
} from '../../settlement/journaled-settlements.js';
import { JournalLock } from '#libs/journal/backend/journal-lock.js';
import { RestoredMark } from '#libs/journal/restored/restored-mark.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { withTransaction } from '#libs/platform/database/postgres.js';
import { checkLedger } from '../ledger/check-ledger.js';
import { awardIn } from '../ledger/journaled-end.js';
import { ALL_SHARDS, type Place } from '../place.js';
import { checkReservations } from '../reservations.js';
import { lackOf, type Lack } from './ends-behind.js';
import { readSurplus, type SurplusRead } from './read-surplus.js';

export interface AcceptPorts extends Pick<Place, 'pool' | 'clock' | 'databaseUrl' | 'store' | 'seals'> {
  readonly tell: (line: string) => void;
}

export interface Acceptance extends SurplusRead {
  readonly lack: Lack;
  readonly accepted: boolean;
  /** Number of resources whose reservations differ from the journals. Owners correct them when they start. */
  readonly toRestate: number;
  /** Accounts that the journals name and this database does not have. */
  readonly unknownAccounts: readonly string[];
  readonly shortfalls: readonly Shortfall[];
  /** Other reasons to refuse. If there are any, nothing is changed. */
  readonly objections: readonly string[];
}

const ON_LEDGER = 'select award_id as id from custody.settlements where award_id = any ($1::uuid[])';
const UNKNOWN = `
  select id from unnest($1::text[]) as id
  where not exists (select from identity.users where account_id::text = id) order by 1`;

/** Rolls the transaction back. What was found on the way is the result. */
class NotKept extends Error {
  constructor(readonly found: Pick<Acceptance, 'shortfalls' | 'objections'>) {
    super('the transaction is not kept');
  }
}

/**
 * Settles in a restored ledger what its journals have settled since. All changes are made in one transaction, and rolled back
 * unless `confirmed` and free of objections. Undefined if the database is not marked as restored. See docs/decisions/11.
 */
export async function acceptRestored(
  ports: AcceptPorts,
  confirmed: boolean,
): Promise<Acceptance | undefined> {
  const { pool, clock, databaseUrl } = ports;
  const lock = new JournalLock(databaseUrl, clock);
  await lock.takeAlone();
  try {
    const store = await ports.store();
    const surplus = await store.surplus();
    if (surplus.length === 0) return undefined;
    const read = await readSurplus(ports, store, surplus);
    const ends = read.shards.map((shard) => shard.ends);
    const ended = ends.flatMap(({ all }) => all.map(awardIn));
    const lack = lackOf(ends, await idsIn(pool, ON_LEDGER, ended));
    const accounts = new Set(read.shards.flatMap(({ ends }) => [...ends.accounts]));
    const { missing, surplus: more } = await checkReservations(
      pool,
      read.shards.map(({ held }) => held),
    );
    const found = {
      ...read,
      lack,
      toRestate: missing.length + more.length,
      unknownAccounts: [...(await idsIn(pool, UNKNOWN, [...accounts]))],
    };
    return { ...found, ...(await settleAll(ports, found, confirmed, lock)) };
  } finally {
    await lock.letGo();
  }
}

async function idsIn(pool: Pool, text: string, ids: readonly string[]): Promise<Set<string>> {
  return new Set((await pool.query<{ id: string }>(text, [ids])).rows.map(({ id }) => id));
}

type Found = Pick<Acceptance, 'shards' | 'proof' | 'lack'>;
type Outcome = Pick<Acceptance, 'accepted' | 'shortfalls' | 'objections'>;

async function settleAll(
  { pool, clock }: Pick<AcceptPorts, 'pool' | 'clock'>,
  found: Found,
  confirmed: boolean,
  lock: JournalLock,
): Promise<Outcome> {
  const objections = objectionsIn(found);
  // A settlement without a route may change what other accounts lack, so no shortfalls are reported.
  if (objections.length > 0) return { accepted: false, shortfalls: [], objections };
  try {
    await withTransaction(pool, 'read committed', async (client) => {
      await settleWithin(client, clock, found);
      await new RestoredMark(client, 'auction').accept(found.shards.map(({ end }) => end));
      if (!confirmed) throw new NotKept({ shortfalls: [], objections: [] });
      await lock.whileHeld(() => Promise.resolve());
    });
    return { accepted: true, shortfalls: [], objections: [] };
  } catch (error) {
    if (!(error instanceof NotKept)) throw error;
    return { accepted: false, ...error.found };
  }
}

/** All or nothing. Afterwards journals and ledger must agree on every award, to the atom. */
async function settleWithin(client: PoolClient, clock: Clock, { shards, lack, proof }: Found): Promise<void> {
  const { settled, failed } = lack;
  const now = instantFromNanos(clock.epochNanos());
  const moment = { now, evidenceTtlMillis: EVIDENCE_FEED_DEFAULTS.ttlMillis };
  // All entries are computed between two statements. No other transaction waits for this one.
  await client.query('set local idle_in_transaction_session_timeout = 0');
  const shortfalls = await shortfallsOf(client, settled);
  if (shortfalls.length > 0) throw new NotKept({ shortfalls, objections: [] });
  await settleAsJournaled(client, settled, moment);
  await failAsJournaled(client, failed, moment);
  for (const end of shards.flatMap(({ ends }) => ends.all)) proof.expect(end);
  const { faults } = await checkLedger(client, proof, {
    shards: ALL_SHARDS,
    allShards: ALL_SHARDS,
    pending: shards.flatMap(({ held }) => held.pending),
    // The journals are locked, so there is nothing newer to read.
    readOn: () => Promise.resolve(),
  });
  if (faults.length > 0) throw new NotKept({ shortfalls: [], objections: faults });
}

function objectionsIn({ shards, lack }: Found): string[] {
  return [
    ...shards.flatMap(({ shard, faults }) => faults.map((fault) => `shard ${shard}: ${fault}`)),
    ...lack.unsaid.map(
      ({ award_id: award, auction_id: auction }) =>
        `award ${award} of auction ${auction} was settled, and its record does not say by which route`,
    ),
  ];
}
