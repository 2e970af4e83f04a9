import { repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';

export interface ClockWatchOptions {
  readonly clock: Clock;
  /** The time by somebody else's clock, in nanoseconds since 1970: the database's. */
  readonly reference: () => Promise<bigint>;
  /** The time of the last event in the journal: the clock must not be behind what has happened already. */
  readonly lastEventNanos: () => bigint;
  readonly maxOffsetMillis: number;
  readonly pollMillis?: number;
}

const NANOS_PER_MILLI = 1_000_000n;
/** A wall clock that moves this far against the monotonic one has been set by hand. */
const MAX_STEP_NANOS = 500n * NANOS_PER_MILLI;
const POLL_MILLIS = 1_000;

/**
 * Whether this owner may trust its clock, on which the order of a close and a quote depends. A jump is noticed by the very
 * next command; the clock is trusted anew when another clock agrees with it.
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
   * The time to work by. While the clock is not to be trusted it is carried on from when it last was, and in a process in which
   * it never was, from what the other clock said: what is journaled ahead of time would keep every later owner waiting for it.
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
      // An answer that was long on its way fits a clock that is as far from the truth: it says nothing of one.
      const isTimely = halfWay <= bound;
      if (isTimely)
        this.agreed =
          magnitude(this.offset) <= bound + halfWay && ours + bound >= this.options.lastEventNanos();
      if (isTimely && this.agreed) this.baseline = this.wallAgainstMonotonic();
      else if (!this.hasEverAgreed) this.baseline = reference + halfWay - clock.monotonicNanos();
      this.hasEverAgreed ||= this.agreed;
    } catch {
      // A database that does not answer says nothing of the clock: what was found last still holds, jumps are seen without it.
    }
  }

  private wallAgainstMonotonic(): bigint {
    return this.options.clock.epochNanos() - this.options.clock.monotonicNanos();
  }
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}
