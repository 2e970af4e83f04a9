/**
 * Lets a few pieces of work run at a time and a bounded number wait in order. Password hashing takes a thread of the
 * pool that the whole process shares, and tens of megabytes; a flood of logins must not take all of them.
 */
export class WorkQueue {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly atOnce: number,
    private readonly mostWaiting: number,
  ) {}

  /** Undefined when too many wait already: nothing was done. */
  async run<T>(work: () => Promise<T>): Promise<{ readonly result: T } | undefined> {
    if (this.running >= this.atOnce) {
      if (this.waiting.length >= this.mostWaiting) return undefined;
      // Whoever finishes hands over its place, so `running` stays as it is.
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    } else {
      this.running += 1;
    }
    try {
      return { result: await work() };
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.running -= 1;
      else next();
    }
  }
}
