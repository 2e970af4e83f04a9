import type { Health } from '#libs/platform/internal-server/polled-readiness.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { StartTable } from '../store/start-table.js';

const PATIENCE_MILLIS = 1_000;

/** Ready: not draining, and all is applied that the sources held when ingest was started. */
export class DataReadiness {
  private asked: Promise<Health> | undefined;

  constructor(
    private readonly start: Pick<StartTable, 'isProjected'>,
    private readonly clock: Clock,
    private readonly draining: AbortSignal,
  ) {}

  check(): Promise<Health> {
    if (this.draining.aborted) return Promise.resolve({ ok: false, status: 'draining' });
    // One question at a time, however many ask.
    this.asked ??= this.ask().finally(() => {
      this.asked = undefined;
    });
    const late = pause(this.clock, PATIENCE_MILLIS).then((): Health => UNREACHABLE);
    return Promise.race([this.asked, late]);
  }

  private async ask(): Promise<Health> {
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
