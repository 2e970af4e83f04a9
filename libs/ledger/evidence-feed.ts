import type { Pool } from 'pg';
import { instantFromNanos, plusMillis, type Instant } from '#libs/base/instant.js';
import type { Cancel, Clock } from '#libs/platform/time/clock.js';
import { withTransaction } from '#libs/platform/database/postgres.js';
import type { LedgerKey } from './ledger.js';
import { restateEvidence } from './restate-evidence.js';
import { IS_SPOILED, UNSPOKEN } from './stated-amount.js';

export interface EvidenceFeedSettings {
  /** How long evidence stays valid without renewal. */
  readonly ttlMillis: number;
  readonly renewEveryMillis: number;
  /** Rows in one transaction, so that a settlement never waits long for one of them. */
  readonly chunk: number;
}

/** Evidence outlives one failed round; that of a stopped worker expires within a minute and a half. */
export const EVIDENCE_FEED_DEFAULTS: EvidenceFeedSettings = {
  ttlMillis: 90_000,
  renewEveryMillis: 30_000,
  chunk: 1_000,
};

/** After a failed round evidence is not renewed and trading waits, so the next round begins as soon as it may succeed. */
const RETRY_MILLIS = 1_000;

/** The advisory lock of the worker that renews. The constant must never change. */
const RENEWAL_LOCK = 7_210_554_317;
const TAKE_LOCK = 'select pg_try_advisory_xact_lock($1) as mine';

interface Key {
  readonly account_id: string;
  readonly venue: string;
  readonly resource: string;
  readonly asset: string;
}

const NANOS_PER_SECOND = 1e9;
const MILLIS_PER_SECOND = 1_000;
const BEFORE_ALL: Key = { account_id: '', venue: '', resource: '', asset: '' };

/**
 * In the order of the primary key, in which settlements lock their rows too. Skips rows that need no renewal, and never renews a
 * row that differs from the ledger. Ledger and evidence change together, so a difference means that another process has written.
 */
const RENEW = `
  with chunk as materialized (
    select account_id, venue, resource, asset, ${IS_SPOILED} as spoiled,
      least(risk_valid_until, authority_valid_until) < $6 or greatest(risk_valid_until, authority_valid_until) > $8 as due
    from risk.evidence v where (account_id, venue, resource, asset) > ($1, $2, $3, $4)
    order by 1, 2, 3, 4 limit $7
  ), renewed as (
    update risk.evidence e set risk_valid_until = $5, authority_valid_until = $5
    from chunk c where c.due and not c.spoiled
      and (e.account_id, e.venue, e.resource, e.asset) = (c.account_id, c.venue, c.resource, c.asset)
    returning 1
  )
  select account_id, venue, resource, asset, (select count(*) from renewed) as renewed,
    (select coalesce(jsonb_agg(jsonb_build_object('account', account_id, 'venue', venue, 'asset', asset)), '[]')
      from chunk where spoiled) as spoiled
  from chunk order by 1 desc, 2 desc, 3 desc, 4 desc limit 1`;

/** At most one chunk a round, so that a database that lost all evidence is not read in one go. */
const MISSING = `select account_id as account, venue, asset from (${UNSPOKEN} limit $1) as unspoken`;

export interface EvidenceObserver {
  fault(error: unknown): void;
  /** Evidence that another process has changed or removed. It is restated. */
  spoiled(keys: readonly LedgerKey[]): void;
}

/**
 * Renews the validity of the published evidence while this process and the ledger live. Restates evidence that differs from
 * the ledger.
 */
export class EvidenceFeed {
  private cancel: Cancel | undefined;
  private stopped = false;
  private round: Promise<void> = Promise.resolve();
  /** When the last complete round began. */
  private completedAt: bigint | undefined;
  private missedLocks = 0;
  /** A round of this worker has failed, and none has completed since. */
  private isFailing = false;

  constructor(
    private readonly pool: Pool,
    private readonly clock: Clock,
    private readonly observer: EvidenceObserver,
    private readonly settings: EvidenceFeedSettings = EVIDENCE_FEED_DEFAULTS,
  ) {}

  /** Resolves after the first round, when evidence is fresh. */
  start(): Promise<void> {
    this.round = this.runRound();
    return this.round;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.cancel?.();
    await this.round;
  }

  /** Seconds for which the evidence of the last complete round is still valid; below 0 once it has expired. */
  get holdsSeconds(): number {
    if (this.completedAt === undefined) return 0;
    const age = Number(this.clock.monotonicNanos() - this.completedAt) / NANOS_PER_SECOND;
    return this.settings.ttlMillis / MILLIS_PER_SECOND - age;
  }

  /** Renews all evidence once. Returns the number of renewed rows; ends early if another worker has the lock. */
  async renewAll(): Promise<number> {
    const now = instantFromNanos(this.clock.epochNanos());
    let renewed = 0;
    let after: Key | undefined = BEFORE_ALL;
    while (after !== undefined && !this.stopped) {
      const step: Renewed | undefined = await this.renewChunk(after, now);
      renewed += step?.renewed ?? 0;
      if (step !== undefined) await this.restate(step.spoiled, now);
      after = step;
    }
    if (!this.stopped) await this.restate(await this.missing(), now);
    return renewed;
  }

  private async missing(): Promise<readonly LedgerKey[]> {
    return (await this.pool.query<LedgerKey>(MISSING, [this.settings.chunk])).rows;
  }

  private async restate(keys: readonly LedgerKey[], now: Instant): Promise<void> {
    if (keys.length === 0) return;
    this.observer.spoiled(keys);
    await restateEvidence(this.pool, keys, plusMillis(now, this.settings.ttlMillis));
  }

  private async runRound(): Promise<void> {
    const begun = this.clock.monotonicNanos();
    const { missedLocks } = this;
    try {
      await this.renewAll();
      if (this.missedLocks === missedLocks) {
        this.completedAt = begun;
        this.isFailing = false;
      }
    } catch (error) {
      this.isFailing = true;
      this.observer.fault(error);
    }
    if (this.stopped) return;
    // A failed round may hold the lock until its server notices, so a missed lock is no reason to wait longer.
    const { renewEveryMillis } = this.settings;
    const rest = this.isFailing ? Math.min(RETRY_MILLIS, renewEveryMillis) : renewEveryMillis;
    this.cancel = this.clock.after(rest, () => {
      this.round = this.runRound();
    });
  }

  private renewChunk(after: Key, now: Instant): Promise<Renewed | undefined> {
    const { ttlMillis, renewEveryMillis, chunk } = this.settings;
    const until = plusMillis(now, ttlMillis);
    // Rows that were renewed a moment ago, by this worker or another, are skipped.
    const due = plusMillis(now, ttlMillis - Math.floor(renewEveryMillis / 2));
    // A much longer validity, from another setting, is shortened to the one of this worker.
    const tooLong = plusMillis(now, ttlMillis + renewEveryMillis);
    return withTransaction(this.pool, 'read committed', async (client) => {
      const lock = await client.query<{ mine: boolean }>(TAKE_LOCK, [RENEWAL_LOCK]);
      if (lock.rows[0]?.mine !== true) {
        this.missedLocks += 1;
        return undefined;
      }
      const { rows } = await client.query<Renewed>({
        name: 'custody-renew',
        text: RENEW,
        values: [after.account_id, after.venue, after.resource, after.asset, until, due, chunk, tooLong],
      });
      return rows[0];
    });
  }
}

interface Renewed extends Key {
  readonly renewed: number;
  readonly spoiled: readonly LedgerKey[];
}
