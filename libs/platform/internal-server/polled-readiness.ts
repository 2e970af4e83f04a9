import { repeat, type Clock } from '../time/clock.js';

export interface Health {
  readonly ok: boolean;
  /** `healthy`, `ready`, or the name of the condition that fails. */
  readonly status: string;
}

export type HealthCheck = () => Health | Promise<Health>;

/** A hung check counts as failed. */
const CHECK_WITHIN_MS = 2_000;
const POLL_EVERY_MS = 5_000;

/** The content of `/readyz`, and its last value for metrics, which must reply at once whatever hangs. */
export class PolledReadiness {
  private begun = 0;
  /** The check that produced `isReady`. A slow check does not overrule a later one. */
  private shown = 0;
  private last = false;

  constructor(private readonly readyz: HealthCheck) {}

  get isReady(): boolean {
    return this.last;
  }

  async ask(): Promise<Health> {
    this.begun += 1;
    const number = this.begun;
    const health = await withinBound(this.readyz);
    if (number > this.shown) {
      this.shown = number;
      this.last = health.ok;
    }
    return health;
  }

  /** Also polls by itself, in case no other process asks. Returns a function that stops it. */
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
