/** What is larger has memory of its own, so that one large array does not stay for ever. */
const MOST_KEPT_BYTES = 1_048_576;

/**
 * Memory for one array after the other, each written when the one before has been sent and answered. Memory of its own for each costs
 * more than filling it: V8 collects the whole heap for every few dozen megabytes that are taken beside it.
 */
export class ArrayRoom {
  private kept = Buffer.alloc(0);

  /** Holds what was taken before, and is overwritten by what is taken next. */
  take(bytes: number): Buffer {
    if (bytes > MOST_KEPT_BYTES) return Buffer.allocUnsafeSlow(bytes);
    if (bytes > this.kept.length) this.kept = Buffer.allocUnsafeSlow(Math.min(2 * bytes, MOST_KEPT_BYTES));
    return this.kept.subarray(0, bytes);
  }
}
