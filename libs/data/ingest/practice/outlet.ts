/** A bounded queue from several producers to one consumer, in order of arrival. Producers wait while it is full. */
export class Outlet<T> {
  private readonly waiting: T[] = [];
  private readonly producers: (() => void)[] = [];
  private ended: { readonly error?: unknown } | undefined;
  private wake: () => void = () => undefined;

  constructor(private readonly room: number) {}

  /** Resolves once there is room for the next item. Items put after the end are dropped. */
  async put(item: T): Promise<void> {
    if (this.ended !== undefined) return;
    this.waiting.push(item);
    this.wake();
    if (this.waiting.length <= this.room) return;
    await new Promise<void>((resolve) => this.producers.push(resolve));
  }

  get isFull(): boolean {
    return this.waiting.length > this.room;
  }

  /** The consumer gets the items put before, then this error. */
  fail(error: unknown): void {
    this.close({ error });
  }

  end(): void {
    this.close({});
  }

  async *items(): AsyncGenerator<T, void> {
    for (;;) {
      const next = this.waiting.shift();
      if (next !== undefined) {
        if (!this.isFull) this.release();
        yield next;
      } else if (this.ended !== undefined) {
        if ('error' in this.ended) throw this.ended.error;
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
      }
    }
  }

  private close(ended: { readonly error?: unknown }): void {
    this.ended ??= ended;
    this.release();
    this.wake();
  }

  private release(): void {
    for (const resolve of this.producers.splice(0)) resolve();
  }
}
