/** Lets only so many work at once; the others wait for their turn, in order. */
export class Turns {
  private working = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly atOnce: number) {}

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.working >= this.atOnce) {
      // Whoever leaves gives its place on.
      await new Promise<void>((resolve) => {
        this.waiting.push(resolve);
      });
    } else this.working += 1;
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.working -= 1;
      else next();
    }
  }
}
