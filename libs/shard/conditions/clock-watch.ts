import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import { repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';

export interface ClockWatchOptions {
  readonly clock: Clock;
  /** The time by another clock, the database's, in nanoseconds since 1970. */
  readonly reference: () => Promise<bigint>;
  /** The time of the last event in the journal: the clock must not be earlier. */
  readonly lastEventNanos: () => bigint;
  readonly maxOffsetMillis: number;
  readonly pollMillis?: number;
}

/** A wall clock that moves this far against the monotonic one has been set by hand. */
const MAX_STEP_NANOS = 500n * NANOS_PER_MILLI;
const POLL_MILLIS = 1_000;

/**
 * Whether this owner may trust its clock, on which the order of a deadline and a command depends. The next command already notices a
 * jump; the clock is trusted again when another clock agrees with it.
 */
export class ClockWatch {
  private baseline: bigint;
  private agreed = false;
  private hasEverAgreed = false;
  private offset: bigint | undefined;
  private cancel: Cancel | undefined;

  constructor(private readonly options: ClockWatchOptions) {
    this.baseline = this.wallAgainstMonotonic();
  }

  /** Milliseconds by which the other clock is ahead of ours. */
  get offsetMillis(): number | undefined {
    return this.offset === undefined ? undefined : Number(this.offset / NANOS_PER_MILLI);
  }

  isSound(): boolean {
    return this.agreed && magnitude(this.wallAgainstMonotonic() - this.baseline) <= MAX_STEP_NANOS;
  }

  /**
   * The time for decisions. While the clock cannot be trusted, time goes on monotonically from when it last could, or from the other clock.
   * An event from the future would make every later owner wait for it.
   */
  epochNanos(): bigint {
    const { clock } = this.options;
    return this.isSound() ? clock.epochNanos() : this.baseline + clock.monotonicNanos();
  }

  async start(): Promise<void> {
    await this.compare();
    this.cancel = repeat(this.options.clock, this.options.pollMillis ?? POLL_MILLIS, () => this.compare());
  }

  stop(): void {
    this.cancel?.();
  }

  private async compare(): Promise<void> {
    const { clock } = this.options;
    const asked = clock.monotonicNanos();
    try {
      const reference = await this.options.reference();
      const halfWay = (clock.monotonicNanos() - asked) / 2n;
      const ours = clock.epochNanos();
      this.offset = reference + halfWay - ours;
      const bound = BigInt(this.options.maxOffsetMillis) * NANOS_PER_MILLI;
      // A slow answer would agree with a clock that is wrong by as much, so it decides nothing.
      const isTimely = halfWay <= bound;
      if (isTimely)
        this.agreed =
          magnitude(this.offset) <= bound + halfWay && ours + bound >= this.options.lastEventNanos();
      if (isTimely && this.agreed) this.baseline = this.wallAgainstMonotonic();
      else if (!this.hasEverAgreed) this.baseline = reference + halfWay - clock.monotonicNanos();
      this.hasEverAgreed ||= this.agreed;
    } catch {
      // Without an answer the last result still holds; jumps are noticed without the database.
    }
  }

  private wallAgainstMonotonic(): bigint {
    return this.options.clock.epochNanos() - this.options.clock.monotonicNanos();
  }
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}
