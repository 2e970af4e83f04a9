import type { Pool } from 'pg';
import { networkOf } from '#libs/platform/network-of.js';
import { quickly } from '../quick-query.js';
import type { ApiKeyWatch } from './api-key-watch.js';

interface Counted {
  readonly counted: boolean;
  /** Null while another failure is allowed. */
  readonly blocked_ms: number | null;
}

const COUNT = 'select counted, blocked_ms from identity.count_auth_failure($1)';

/** Ten failed authentications a minute from one address, over all processes; then all its credentials are refused. */
export class AuthThrottle {
  /** `service`: one whose failures are counted apart from those of others. */
  constructor(
    private readonly pool: Pool,
    private readonly watch: ApiKeyWatch,
    private readonly service?: string,
  ) {}

  isOver(peer: string): boolean {
    return this.watch.isBlocked(this.countOf(peer));
  }

  /**
   * Returns false if others came first: then this call is answered as if it had not been checked. Nothing is counted without an
   * address, as for a client that has left: all such clients would share one count.
   */
  async countFailure(peer: string): Promise<boolean> {
    if (peer === '') return true;
    const values = [this.countOf(peer)];
    const { rows } = await this.pool.query<Counted>(
      quickly({ name: 'count-auth-failure', text: COUNT, values }),
    );
    const { counted, blocked_ms: millis } = rows[0] ?? { counted: false, blocked_ms: null };
    if (millis !== null) this.watch.noteBlocked(this.countOf(peer), millis);
    return counted;
  }

  private countOf(peer: string): string {
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
