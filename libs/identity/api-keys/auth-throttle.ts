import type { Pool } from 'pg';
import { networkOf } from '#libs/platform/network-of.js';
import { quickly } from '../quick-query.js';
import type { ApiKeyWatch } from './api-key-watch.js';

interface CountResult {
  readonly counted: boolean;
  /** Null while more failures are allowed. */
  readonly blocked_ms: number | null;
}

const COUNT = 'select counted, blocked_ms from identity.count_auth_failure($1)';

/** Allows ten failed authentications per minute and address, over all processes. Then refuses all credentials from there. */
export class AuthThrottle {
  /** `service`: set for a service whose failures are counted separately. */
  constructor(
    private readonly pool: Pool,
    private readonly watch: ApiKeyWatch,
    private readonly service?: string,
  ) {}

  isOver(peer: string): boolean {
    return this.watch.isBlocked(this.bucketOf(peer));
  }

  /**
   * Returns false if concurrent failures have used up the limit; the caller then replies as if it had not checked. Failures without
   * an address, from clients that have disconnected, are not counted, because all would share one count.
   */
  async countFailure(peer: string): Promise<boolean> {
    if (peer === '') return true;
    const values = [this.bucketOf(peer)];
    const { rows } = await this.pool.query<CountResult>(
      quickly({ name: 'count-auth-failure', text: COUNT, values }),
    );
    const { counted, blocked_ms: millis } = rows[0] ?? { counted: false, blocked_ms: null };
    if (millis !== null) this.watch.noteBlocked(this.bucketOf(peer), millis);
    return counted;
  }

  private bucketOf(peer: string): string {
    const network = networkOf(peer);
    return this.service === undefined ? network : `${this.service} ${network}`;
  }

  async forgetOld(): Promise<void> {
    this.watch.forgetPast();
    await this.pool.query(`delete from identity.auth_failures where failed_at < now() - interval '1 minute'`);
    await this.pool.query(
      `delete from identity.auth_blocks where blocked_until < now() - interval '1 minute'`,
    );
  }
}
