/** Lets so many in at once; others wait in turn, and of these no more than have room. */
export class Turnstile {
  private inside = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly most: number,
    private readonly room: number,
  ) {}

  /** Undefined where there is no room to wait. */
  async pass<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (this.inside >= this.most) {
      if (this.waiting.length >= this.room) return undefined;
      // Who goes out gives its place to the first.
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
