import type { Pool } from 'pg';
import { pause, type Clock } from '#libs/platform/clock.js';
import type { Health } from '#libs/platform/heard-readiness.js';
import type { OwnerRouter } from './owner-router.js';

const PATIENCE_MILLIS = 1_000;

/** Ready: not draining, the control schema answers, and at least one owner can be asked. */
export class Readiness {
  /** One question at a time, however many want to know: anybody may ask, and as often as they like. */
  private asked: Promise<boolean> | undefined;

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
    this.asked ??= this.askSchema();
    return Promise.race([this.asked, pause(this.clock, PATIENCE_MILLIS).then(() => false)]);
  }

  private async askSchema(): Promise<boolean> {
    try {
      await this.pool.query('select version from control.version');
      return true;
    } catch {
      return false;
    } finally {
      this.asked = undefined;
    }
  }
}
