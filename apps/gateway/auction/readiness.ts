import type { DatabasePulse } from '#libs/platform/database/database-pulse.js';
import type { Health } from '#libs/platform/internal-server/polled-readiness.js';
import type { OwnerRouter } from '#libs/auction/api/owner-router.js';

/** Ready while not draining, the control schema answers and at least one owner is reachable. */
export class Readiness {
  constructor(
    private readonly schema: DatabasePulse,
    private readonly owners: OwnerRouter,
    private readonly draining: AbortSignal,
  ) {}

  async check(): Promise<Health> {
    if (this.draining.aborted) return { ok: false, status: 'draining' };
    if (!(await this.schema.answers())) return { ok: false, status: 'control_schema_unreachable' };
    if (this.owners.reachable === 0) return { ok: false, status: 'owners_unreachable' };
    return { ok: true, status: 'ready' };
  }
}
