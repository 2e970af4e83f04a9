const FIRST_REPEAT_MS = 200;
const LONGEST_MS = 5_000;
const HEALTHY_NANOS = 60_000_000_000n;

/** How long to wait before the next start: not at all for the first, then doubling; a healthy minute makes it forget. */
export class BackOff {
  private failures = 0;

  /** `ranNanos`: how long the process that has just ended had been running. */
  next(ranNanos: bigint): number {
    if (ranNanos >= HEALTHY_NANOS) this.failures = 0;
    const wait = this.failures === 0 ? 0 : Math.min(LONGEST_MS, FIRST_REPEAT_MS * 2 ** (this.failures - 1));
    this.failures += 1;
    return wait;
  }
}
