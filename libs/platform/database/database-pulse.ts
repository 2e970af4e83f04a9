import type { Pool } from 'pg';
import { pause, type Clock } from '../time/clock.js';

const PATIENCE_MILLIS = 1_000;

/** For processes that decide commands: a connection is not enough, the rules must be readable. */
export const SCHEMA_ANSWERS = 'select version from control.version';

/**
 * Whether the database replies. One query at a time, however many callers wait and however long it hangs: anyone may ask for
 * readiness, as often as they like.
 */
export class DatabasePulse {
  private asked: Promise<boolean> | undefined;

  constructor(
    private readonly pool: Pick<Pool, 'query'>,
    private readonly clock: Clock,
    private readonly question = 'select 1',
  ) {}

  answers(): Promise<boolean> {
    this.asked ??= this.ask();
    return Promise.race([this.asked, pause(this.clock, PATIENCE_MILLIS).then(() => false)]);
  }

  private async ask(): Promise<boolean> {
    try {
      await this.pool.query(this.question);
      return true;
    } catch {
      return false;
    } finally {
      this.asked = undefined;
    }
  }
}
