import type { Clock } from '#libs/platform/time/clock.js';

/** The keys under which a login attempt is counted. */
export interface Attempt {
  readonly email: string;
  readonly network: string;
}

export interface LoginQueueLimits {
  /** Concurrent password checks. Node's thread pool has four threads, and other work needs some of them. */
  readonly atOnce: number;
  /** Running and waiting attempts: for one e-mail address, for one network, and in total. */
  readonly perEmail: number;
  readonly perNetwork: number;
  readonly inAll: number;
  /** An attempt that has waited this long is refused, because few clients wait longer. */
  readonly patienceMillis: number;
}

/**
 * A firm may log in all its programs from one network at the same time, so a network may use most of the queue, but not all. No
 * firm needs many concurrent attempts for one e-mail address.
 */
export const LOGIN_QUEUE_LIMITS: LoginQueueLimits = {
  atOnce: 2,
  perEmail: 64,
  perNetwork: 768,
  inAll: 1_024,
  patienceMillis: 30_000,
};

/** `share`: this e-mail address or network has used its share. `full` and `late`: the gateway is overloaded. */
export type LoginRefusal = 'share' | 'full' | 'late';

/**
 * Runs a few attempts at a time and queues a bounded number, because a password hash needs a thread of the shared pool and tens
 * of megabytes. Networks take turns, so a flood from one delays another by only one attempt per turn.
 */
export class LoginQueue {
  private running = 0;
  private total = 0;
  private readonly countByEmail = new Map<string, number>();
  private readonly countByNetwork = new Map<string, number>();
  /** By network, in the order of their turns. No set is empty. */
  private readonly waiting = new Map<string, Set<() => void>>();

  constructor(
    private readonly clock: Clock,
    private readonly limits: LoginQueueLimits = LOGIN_QUEUE_LIMITS,
  ) {}

  async run<T>(attempt: Attempt, work: () => Promise<T>): Promise<{ readonly result: T } | LoginRefusal> {
    const { perEmail, perNetwork, inAll } = this.limits;
    if (countOf(this.countByEmail, attempt.email) >= perEmail) return 'share';
    if (countOf(this.countByNetwork, attempt.network) >= perNetwork) return 'share';
    if (this.total >= inAll) return 'full';
    this.count(attempt, 1);
    try {
      if (!(await this.waitForTurn(attempt.network))) return 'late';
      try {
        return { result: await work() };
      } finally {
        this.startNext();
      }
    } finally {
      this.count(attempt, -1);
    }
  }

  /** Resolves with true when it is this attempt's turn, or with false after too long a wait. */
  private waitForTurn(network: string): true | Promise<boolean> {
    if (this.running < this.limits.atOnce) {
      this.running += 1;
      return true;
    }
    return new Promise((resolve) => {
      const attempts = this.waiting.get(network) ?? new Set();
      this.waiting.set(network, attempts);
      const start = (): void => {
        cancel();
        resolve(true);
      };
      const cancel = this.clock.after(this.limits.patienceMillis, () => {
        attempts.delete(start);
        if (attempts.size === 0) this.waiting.delete(network);
        resolve(false);
      });
      attempts.add(start);
    });
  }

  /** Starts the first attempt of the next network, which then moves to the end of the queue. */
  private startNext(): void {
    const [next] = this.waiting;
    if (next === undefined) {
      this.running -= 1;
      return;
    }
    const [network, attempts] = next;
    const [start] = attempts;
    this.waiting.delete(network);
    if (start === undefined) throw new Error('a network without attempts is in the queue');
    attempts.delete(start);
    if (attempts.size > 0) this.waiting.set(network, attempts);
    start();
  }

  private count({ email, network }: Attempt, change: 1 | -1): void {
    this.total += change;
    addTo(this.countByEmail, email, change);
    addTo(this.countByNetwork, network, change);
  }
}

function countOf(counts: ReadonlyMap<string, number>, key: string): number {
  return counts.get(key) ?? 0;
}

function addTo(counts: Map<string, number>, key: string, by: number): void {
  const count = countOf(counts, key) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
