import type { Pool } from 'pg';
import type { Clock } from '#libs/platform/time/clock.js';
import { withTransaction } from '#libs/platform/database/postgres.js';
import { epochMillis } from '../epoch.js';

export const MAX_FAILURES = 10;
export const WINDOW_MS = 60_000;

const OVER = `
  select from identity.login_failures
  where key = any($1) and failed_at > to_timestamp($2)
  group by key having count(*) >= $3`;

/** Counts failed logins over all gateways, in a sliding window. */
export class LoginThrottle {
  constructor(
    private readonly pool: Pool,
    private readonly clock: Clock,
  ) {}

  /** True if one of the keys has used up its failures for now. */
  async isOver(keys: readonly string[]): Promise<boolean> {
    const values = [keys, this.windowStart(), MAX_FAILURES];
    const { rowCount } = await this.pool.query({ name: 'identity-throttle', text: OVER, values });
    return rowCount !== 0;
  }

  /**
   * Counts a failure. Returns false if concurrent failures have already used up the limit. The caller then replies as if it had
   * refused the attempt before the check.
   */
  async countFailure(keys: readonly string[]): Promise<boolean> {
    return withTransaction(this.pool, 'read committed', async (client) => {
      // Always in the same order, to avoid deadlocks.
      for (const key of [...keys].sort()) {
        await client.query('select pg_advisory_xact_lock(hashtextextended($1, 77))', [key]);
      }
      const { rowCount } = await client.query(OVER, [keys, this.windowStart(), MAX_FAILURES]);
      if (rowCount !== 0) return false;
      await client.query(
        'insert into identity.login_failures (key, failed_at) select unnest($1::text[]), to_timestamp($2)',
        [keys, epochMillis(this.clock) / 1_000],
      );
      return true;
    });
  }

  async forgetOld(): Promise<void> {
    await this.pool.query('delete from identity.login_failures where failed_at <= to_timestamp($1)', [
      this.windowStart(),
    ]);
  }

  private windowStart(): number {
    return (epochMillis(this.clock) - WINDOW_MS) / 1_000;
  }
}
