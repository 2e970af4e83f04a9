import { repeat, type Clock } from '../time/clock.js';

export interface Health {
  readonly ok: boolean;
  /** `healthy`, `ready`, or the name of the condition that fails. */
  readonly status: string;
}

export type HealthCheck = () => Health | Promise<Health>;

/** A check that takes longer counts as failed. */
const CHECK_WITHIN_MS = 2_000;
const POLL_EVERY_MS = 5_000;

/** Runs the check of `/readyz`, and remembers its last result for metrics, which must not wait for a check. */
export class PolledReadiness {
  private lastStarted = 0;
  /** The number of the check whose result is `isReady`. A slow check does not overwrite a later one. */
  private lastApplied = 0;
  private lastReady = false;

  constructor(private readonly readyz: HealthCheck) {}

  get isReady(): boolean {
    return this.lastReady;
  }

  async ask(): Promise<Health> {
    this.lastStarted += 1;
    const number = this.lastStarted;
    const health = await withinBound(this.readyz);
    if (number > this.lastApplied) {
      this.lastApplied = number;
      this.lastReady = health.ok;
    }
    return health;
  }

  /** Polls by itself, in case no one requests `/readyz`. Returns a function that stops it. */
  follow(clock: Clock): () => void {
    const poll = async (): Promise<void> => {
      await this.ask();
    };
    void poll();
    return repeat(clock, POLL_EVERY_MS, poll);
  }
}

export async function withinBound(check: HealthCheck): Promise<Health> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Health>((resolve) => {
    timer = setTimeout(resolve, CHECK_WITHIN_MS, { ok: false, status: 'check_timed_out' });
  });
  try {
    return await Promise.race([Promise.resolve().then(check), late]);
  } catch {
    return { ok: false, status: 'check_failed' };
  } finally {
    clearTimeout(timer);
  }
}
