import type { Clock } from '#libs/platform/time/clock.js';

/** The subject of an attempt, as far as it is known before the password is checked. */
export interface Attempt {
  readonly email: string;
  readonly network: string;
}

export interface LoginQueueLimits {
  /** Concurrent password checks; the thread pool of a process has four threads, and other work needs some. */
  readonly atOnce: number;
  /** Running or waiting, for one e-mail address, for one network address, and in all. */
  readonly perEmail: number;
  readonly perNetwork: number;
  readonly inAll: number;
  /** An attempt that has waited this long is refused: few clients wait longer. */
  readonly patienceMillis: number;
}

/**
 * A firm may log in all its programs from one address at the opening, so a network may have most of the queue and still leaves
 * room for others. It never needs many concurrent attempts for one e-mail address.
 */
export const LOGIN_QUEUE_LIMITS: LoginQueueLimits = {
  atOnce: 2,
  perEmail: 64,
  perNetwork: 768,
  inAll: 1_024,
  patienceMillis: 30_000,
};

/** `share`: this address has used its share. `full` and `late`: the gateway is overloaded. */
export type LoginRefusal = 'share' | 'full' | 'late';

/**
 * Runs a few attempts at a time and lets a bounded number wait: a password hash takes a thread of the shared pool, and tens of
 * megabytes. Networks take turns, so a flood from one delays another by one attempt a turn.
 */
export class LoginQueue {
  private running = 0;
  private held = 0;
  private readonly ofEmail = new Map<string, number>();
  private readonly ofNetwork = new Map<string, number>();
  /** By network, in the order of their turns; none is empty. */
  private readonly waiting = new Map<string, Set<() => void>>();

  constructor(
    private readonly clock: Clock,
    private readonly limits: LoginQueueLimits = LOGIN_QUEUE_LIMITS,
  ) {}

  async run<T>(by: Attempt, work: () => Promise<T>): Promise<{ readonly result: T } | LoginRefusal> {
    const { perEmail, perNetwork, inAll } = this.limits;
    if (countOf(this.ofEmail, by.email) >= perEmail) return 'share';
    if (countOf(this.ofNetwork, by.network) >= perNetwork) return 'share';
    if (this.held >= inAll) return 'full';
    this.count(by, 1);
    try {
      if (!(await this.turn(by.network))) return 'late';
      try {
        return { result: await work() };
      } finally {
        this.handOver();
      }
    } finally {
      this.count(by, -1);
    }
  }

  /** Resolves when it is this attempt's turn, or with false after too long a wait. */
  private turn(network: string): true | Promise<boolean> {
    if (this.running < this.limits.atOnce) {
      this.running += 1;
      return true;
    }
    return new Promise((resolve) => {
      const line = this.waiting.get(network) ?? new Set();
      this.waiting.set(network, line);
      const go = (): void => {
        cancel();
        resolve(true);
      };
      const cancel = this.clock.after(this.limits.patienceMillis, () => {
        line.delete(go);
        if (line.size === 0) this.waiting.delete(network);
        resolve(false);
      });
      line.add(go);
    });
  }

  /** The end of an attempt starts the first one of the next network, which then goes to the end. */
  private handOver(): void {
    const [next] = this.waiting;
    if (next === undefined) {
      this.running -= 1;
      return;
    }
    const [network, line] = next;
    const [go] = line;
    this.waiting.delete(network);
    if (go === undefined) throw new Error('a network without attempts has a turn');
    line.delete(go);
    if (line.size > 0) this.waiting.set(network, line);
    go();
  }

  private count({ email, network }: Attempt, by: 1 | -1): void {
    this.held += by;
    addTo(this.ofEmail, email, by);
    addTo(this.ofNetwork, network, by);
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
