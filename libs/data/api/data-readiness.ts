import type { Health } from '#libs/platform/internal-server/polled-readiness.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { StartTable } from '../store/start-table.js';

const PATIENCE_MILLIS = 1_000;

/** Ready when not draining, and when ingest has applied everything that the sources held at its start. */
export class DataReadiness {
  private running: Promise<Health> | undefined;

  constructor(
    private readonly start: Pick<StartTable, 'isProjected'>,
    private readonly clock: Clock,
    private readonly draining: AbortSignal,
  ) {}

  check(): Promise<Health> {
    if (this.draining.aborted) return Promise.resolve({ ok: false, status: 'draining' });
    // Concurrent checks share one query.
    this.running ??= this.query().finally(() => {
      this.running = undefined;
    });
    const late = pause(this.clock, PATIENCE_MILLIS).then((): Health => UNREACHABLE);
    return Promise.race([this.running, late]);
  }

  private async query(): Promise<Health> {
    try {
      return (await this.start.isProjected())
        ? { ok: true, status: 'ready' }
        : { ok: false, status: 'starting' };
    } catch {
      return UNREACHABLE;
    }
  }
}

const UNREACHABLE: Health = { ok: false, status: 'database_unreachable' };
