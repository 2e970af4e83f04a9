import type { Cells } from '#libs/execution/api/cells.js';
import type { DatabasePulse } from '#libs/platform/database/database-pulse.js';
import type { Health } from '#libs/platform/internal-server/polled-readiness.js';

/** Ready while not draining, the database answers and at least one cell is reachable. */
export class ExecutionReadiness {
  constructor(
    private readonly database: DatabasePulse,
    private readonly cells: Cells,
    private readonly draining: AbortSignal,
  ) {}

  async check(): Promise<Health> {
    if (this.draining.aborted) return { ok: false, status: 'draining' };
    if (!(await this.database.answers())) return { ok: false, status: 'control_schema_unreachable' };
    return this.cells.reachable === 0
      ? { ok: false, status: 'cells_unreachable' }
      : { ok: true, status: 'ready' };
  }
}
