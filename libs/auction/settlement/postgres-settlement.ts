import type { Pool, PoolClient } from 'pg';
import type { AwardSettlement } from '../rules/events.js';
import { instantFromNanos, plusMillis, type Instant } from '#libs/base/instant.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import { isLockTimeout, isSerializationFailure, withTransaction } from '#libs/platform/database/postgres.js';
import { EVIDENCE_FEED_DEFAULTS } from '#libs/ledger/evidence-feed.js';
import { columnsOf, lockBalances, type Entry, type LedgerKey } from '#libs/ledger/ledger.js';
import { publishEvidence } from '#libs/ledger/publish-evidence.js';
import type { AwardToSettle, SettlementAttempt, SettlementDesk, SettlementOutcome } from './settlement.js';
import { balancesTouched, planSettlement } from './settlement-plan.js';

const MAX_ATTEMPTS = 8;
const MAX_PAUSE_MS = 20;
/**
 * Settling and giving up wait for each other's rows. Neither may block the other for long, not even by dying, because one of the
 * two must be able to finish at the deadline.
 */
const LOCK_WAIT_MS = 1_000;
const STANDSTILL_MS = 2_000;
const BUSY = 'LEDGER_BUSY';
const TOO_LATE = 'EXECUTION_DEADLINE_PASSED';

/** Rolls the transaction back. Its message is the reason in the reply. */
class Blocked extends Error {}

/**
 * Settling and giving up compete for the award's row in `settlements`. The transaction that inserts it first holds it until it
 * ends. The other one waits, and then reads the recorded outcome.
 */
export class PostgresSettlement implements SettlementDesk {
  /** `random` gives numbers between 0 and 1, to spread retries. `evidenceTtlMillis` is how long new evidence is valid. */
  constructor(
    private readonly pool: Pool,
    private readonly clock: Clock,
    private readonly random: () => number,
    private readonly evidenceTtlMillis: number = EVIDENCE_FEED_DEFAULTS.ttlMillis,
  ) {}

  async settle(award: AwardToSettle): Promise<SettlementAttempt> {
    try {
      return await this.retried(() =>
        withTransaction(this.pool, 'read committed', (client) => this.settleWithin(client, award)),
      );
    } catch (error) {
      const reason = isLockTimeout(error) ? BUSY : error instanceof Blocked ? error.message : undefined;
      if (reason === undefined) throw error;
      return { outcome: 'BLOCKED', award_id: award.award_id, reason };
    }
  }

  abandon(awardId: string, reason: string): Promise<SettlementOutcome> {
    return this.retried(() =>
      withTransaction(this.pool, 'read committed', async (client) => {
        await waitBriefly(client);
        if (await giveUp(client, awardId, reason, this.now())) {
          return { outcome: 'FAILED', award_id: awardId, reason };
        }
        return recordedOutcome(client, awardId);
      }),
    );
  }

  async outcomeOf(awardId: string): Promise<SettlementOutcome | undefined> {
    return findOutcome(this.pool, awardId);
  }

  private async settleWithin(client: PoolClient, award: AwardToSettle): Promise<SettlementOutcome> {
    await waitBriefly(client);
    if (!(await claim(client, award.award_id))) return recordedOutcome(client, award.award_id);
    const balances = new Map<string, number>();
    for (const balance of await lockBalances(client, balancesTouched(award))) {
      balances.set(nameOf(balance), balance.amount);
    }
    const plan = planSettlement(award, (key) => balances.get(nameOf(key)) ?? 0);
    if (!plan.ok) throw new Blocked(plan.reason);
    await post(client, award.award_id, plan);
    const parties = [award.buyer.account, award.seller.account];
    const touched = plan.entries.filter((entry) => parties.includes(entry.account));
    await publishEvidence(client, touched, plusMillis(this.now(), this.evidenceTtlMillis));
    if (!(await isInTime(client, award.deadline))) throw new Blocked(TOO_LATE);
    return { outcome: 'SETTLED', award_id: award.award_id, settlement: plan.settlement };
  }

  private async retried<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        if (!isSerializationFailure(error) || attempt >= MAX_ATTEMPTS) throw error;
        await pause(this.clock, Math.ceil(this.random() * MAX_PAUSE_MS));
      }
    }
  }

  private now(): Instant {
    return instantFromNanos(this.clock.epochNanos());
  }
}

function nameOf(key: LedgerKey): string {
  return JSON.stringify([key.account, key.venue, key.asset]);
}

async function waitBriefly(client: PoolClient): Promise<void> {
  await client.query({
    name: 'custody-patience',
    text: `select set_config('lock_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $2, true)`,
    values: [String(LOCK_WAIT_MS), String(STANDSTILL_MS)],
  });
}

/** False if the award already has an outcome. */
async function claim(client: PoolClient, awardId: string): Promise<boolean> {
  const { rows } = await client.query<{ claimed: boolean }>({
    name: 'custody-claim',
    text: 'select custody.claim_settlement($1) as claimed',
    values: [awardId],
  });
  return rows[0]?.claimed === true;
}

/** Like `claim`, for the outcome FAILED. */
async function giveUp(client: PoolClient, awardId: string, reason: string, at: Instant): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'custody-give-up',
    text: `insert into custody.settlements (award_id, outcome, reason, recorded_at) values ($1, 'FAILED', $2, $3)
      on conflict do nothing`,
    values: [awardId, reason, at],
  });
  return rowCount === 1;
}

/** Posts the entries and the outcome. This database function is the only way to do so. */
async function post(
  client: PoolClient,
  awardId: string,
  { settlement, entries }: { readonly settlement: AwardSettlement; readonly entries: readonly Entry[] },
): Promise<void> {
  const { venue, asset, delivered_atoms: delivered } = settlement;
  const [accounts, , assets] = columnsOf(entries);
  const amounts = entries.map(({ amount }) => amount);
  await client.query({
    name: 'custody-post',
    text: 'select custody.post_settlement($1, $2, $3, $4, $5, $6, $7)',
    values: [awardId, venue, asset, delivered, accounts, assets, amounts],
  });
}

/** Checked last, because the settlement may have waited for other transactions. */
async function isInTime(client: PoolClient, deadline: Instant): Promise<boolean> {
  const { rows } = await client.query<{ in_time: boolean }>({
    name: 'custody-in-time',
    text: 'select clock_timestamp() <= $1 as in_time',
    values: [deadline],
  });
  return rows[0]?.in_time === true;
}

async function recordedOutcome(client: PoolClient, awardId: string): Promise<SettlementOutcome> {
  const found = await findOutcome(client, awardId);
  if (found === undefined) throw new Error(`the outcome of award ${awardId} is missing`);
  return found;
}

/** A settled award has its route, a failed one its reason. */
type OutcomeRow =
  | ({ readonly outcome: 'SETTLED' } & AwardSettlement)
  | { readonly outcome: 'FAILED'; readonly reason: string };

async function findOutcome(
  from: Pick<PoolClient, 'query'>,
  awardId: string,
): Promise<SettlementOutcome | undefined> {
  const { rows } = await from.query<OutcomeRow>({
    name: 'custody-outcome',
    text: 'select outcome, venue, asset, delivered_atoms, reason from custody.settlements where award_id = $1',
    values: [awardId],
  });
  const [row] = rows;
  if (row === undefined) return undefined;
  if (row.outcome === 'FAILED') return { outcome: 'FAILED', award_id: awardId, reason: row.reason };
  const { outcome, venue, asset, delivered_atoms } = row;
  return { outcome, award_id: awardId, settlement: { venue, asset, delivered_atoms } };
}
