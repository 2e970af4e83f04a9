/** Runs at most `most` tasks at once. Up to `room` others wait in order; any more are refused. */
export class Turnstile {
  private inside = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly most: number,
    private readonly room: number,
  ) {}

  /** Resolves with undefined, without running, if the waiting room is full. */
  async pass<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (this.inside >= this.most) {
      if (this.waiting.length >= this.room) return undefined;
      // A task that ends hands its slot to the first one waiting.
      await new Promise<void>((enter) => this.waiting.push(enter));
    } else this.inside += 1;
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.inside -= 1;
      else next();
    }
  }
}
