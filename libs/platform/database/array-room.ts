/** A larger array has memory of its own, so that it does not stay for ever. */
const MOST_KEPT_BYTES = 1_048_576;

/**
 * One buffer for arrays that are sent one after the other. A buffer for each costs more than filling it: V8 collects the whole heap
 * for every few dozen megabytes that are allocated outside it.
 */
export class ArrayRoom {
  private kept = Buffer.alloc(0);

  /** Valid until the next call, which overwrites it. */
  take(bytes: number): Buffer {
    if (bytes > MOST_KEPT_BYTES) return Buffer.allocUnsafeSlow(bytes);
    if (bytes > this.kept.length) this.kept = Buffer.allocUnsafeSlow(Math.min(2 * bytes, MOST_KEPT_BYTES));
    return this.kept.subarray(0, bytes);
  }
}
