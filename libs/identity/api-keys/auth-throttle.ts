import type { Pool } from 'pg';
import { networkOf } from '#libs/platform/network-of.js';
import { quickly } from '../quick-query.js';
import type { ApiKeyWatch } from './api-key-watch.js';

interface Counted {
  readonly counted: boolean;
  /** Null as long as there may be another failure. */
  readonly blocked_ms: number | null;
}

const COUNT = 'select counted, blocked_ms from identity.count_auth_failure($1)';

/** Ten failed authentications a minute from one address, over all processes; then whatever it shows is refused. */
export class AuthThrottle {
  constructor(
    private readonly pool: Pool,
    private readonly watch: ApiKeyWatch,
  ) {}

  isOver(peer: string): boolean {
    return this.watch.isBlocked(networkOf(peer));
  }

  /**
   * False: others came first, and this one is answered as if it had not been looked at. Where there is no address, as of a caller that has
   * gone meanwhile, nothing is counted: it would be everybody's.
   */
  async countFailure(peer: string): Promise<boolean> {
    if (peer === '') return true;
    const values = [networkOf(peer)];
    const { rows } = await this.pool.query<Counted>(
      quickly({ name: 'count-auth-failure', text: COUNT, values }),
    );
    const { counted, blocked_ms: millis } = rows[0] ?? { counted: false, blocked_ms: null };
    if (millis !== null) this.watch.noteBlocked(networkOf(peer), millis);
    return counted;
  }

  async forgetOld(): Promise<void> {
    this.watch.forgetPast();
    await this.pool.query(`delete from identity.auth_failures where failed_at < now() - interval '1 minute'`);
    await this.pool.query(
      `delete from identity.auth_blocks where blocked_until < now() - interval '1 minute'`,
    );
  }
}
