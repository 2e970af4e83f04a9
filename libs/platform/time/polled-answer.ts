import { untilNext, type Cancel, type Clock } from './clock.js';

export interface Asking<T> {
  readonly clock: Clock;
  readonly question: () => Promise<T>;
  readonly everyMillis: number;
  /** A question without a reply by then is given up and asked again. */
  readonly withinMillis: number;
  readonly onFault?: (error: unknown) => void;
}

const NANOS_PER_SECOND = 1e9;
const MILLIS_PER_SECOND = 1_000;

/**
 * The last answer to a polled question, for callers that must not wait for the next. It is kept whatever happens to later questions:
 * its age tells its value.
 */
export class PolledAnswer<T> {
  private answer: { readonly value: T } | undefined;
  /** The time of the present answer; before the first, since when there is none. */
  private since: bigint;
  private hasFailed = false;
  private stopped = false;
  private cancel: Cancel = () => undefined;

  constructor(private readonly asking: Asking<T>) {
    this.since = asking.clock.monotonicNanos();
  }

  /** Asks the first question at once; one at a time. */
  start(): void {
    void this.ask().then(() => {
      if (this.stopped) return;
      const { clock, everyMillis } = this.asking;
      this.cancel = clock.after(untilNext(clock, everyMillis), () => {
        this.start();
      });
    });
  }

  stop(): void {
    this.stopped = true;
    this.cancel();
  }

  get value(): T | undefined {
    return this.answer?.value;
  }

  /** The age of the answer. */
  get ageSeconds(): number {
    return Number(this.asking.clock.monotonicNanos() - this.since) / NANOS_PER_SECOND;
  }

  /** Whether the last finished question was answered, and recently enough. */
  isCurrent(maxAgeMillis: number): boolean {
    return this.answer !== undefined && !this.hasFailed && this.ageSeconds * MILLIS_PER_SECOND < maxAgeMillis;
  }

  private async ask(): Promise<void> {
    const { clock, question, withinMillis, onFault } = this.asking;
    const asked = clock.monotonicNanos();
    let cancel: Cancel = () => undefined;
    const late = new Promise<never>((_, reject) => {
      cancel = clock.after(withinMillis, () => {
        reject(new Error(`no answer within ${withinMillis} ms`));
      });
    });
    try {
      const value = await Promise.race([Promise.resolve().then(question), late]);
      this.answer = { value };
      this.since = asked;
      this.hasFailed = false;
    } catch (error) {
      this.hasFailed = true;
      onFault?.(error);
    } finally {
      cancel();
    }
  }
}
