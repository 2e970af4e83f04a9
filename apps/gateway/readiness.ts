import type { Pool } from 'pg';
import { pause, type Clock } from '#libs/platform/clock.js';
import type { Health } from '#libs/platform/internal-server.js';
import type { OwnerRouter } from './owner-router.js';

const PATIENCE_MILLIS = 1_000;

/** Ready: not draining, the control schema answers, and at least one owner can be asked. */
export class Readiness {
  constructor(
    private readonly pool: Pool,
    private readonly owners: OwnerRouter,
    private readonly clock: Clock,
    private readonly draining: AbortSignal,
  ) {}

  async check(): Promise<Health> {
    if (this.draining.aborted) return { ok: false, status: 'draining' };
    if (!(await this.schemaAnswers())) return { ok: false, status: 'control_schema_unreachable' };
    if (this.owners.reachable === 0) return { ok: false, status: 'owners_unreachable' };
    return { ok: true, status: 'ready' };
  }

  private schemaAnswers(): Promise<boolean> {
    const answers = this.pool.query('select version from control.version').then(
      () => true,
      () => false,
    );
    return Promise.race([answers, pause(this.clock, PATIENCE_MILLIS).then(() => false)]);
  }
}
