import type { Pool } from 'pg';
import { pause, type Clock } from '../time/clock.js';

const TIMEOUT_MILLIS = 1_000;

/** For processes that decide commands: they need not only a connection, but also to read the rules. */
export const SCHEMA_ANSWERS = 'select version from control.version';

/**
 * Checks whether the database replies. Sends only one query at a time, for all callers and however long it hangs, because anyone
 * may ask for readiness as often as they like.
 */
export class DatabasePulse {
  private pending: Promise<boolean> | undefined;

  constructor(
    private readonly pool: Pick<Pool, 'query'>,
    private readonly clock: Clock,
    private readonly question = 'select 1',
  ) {}

  answers(): Promise<boolean> {
    this.pending ??= this.sendQuery();
    return Promise.race([this.pending, pause(this.clock, TIMEOUT_MILLIS).then(() => false)]);
  }

  private async sendQuery(): Promise<boolean> {
    try {
      await this.pool.query(this.question);
      return true;
    } catch {
      return false;
    } finally {
      this.pending = undefined;
    }
  }
}
