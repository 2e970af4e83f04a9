import { untilNext, type Cancel, type Clock } from './clock.js';

export interface Asking<T> {
  readonly clock: Clock;
  readonly question: () => Promise<T>;
  readonly everyMillis: number;
  /** A question without a reply is given up after this, and asked again. */
  readonly withinMillis: number;
  readonly onFault?: (error: unknown) => void;
}

const NANOS_PER_SECOND = 1e9;
const MILLIS_PER_SECOND = 1_000;

/**
 * The last answer to a repeated question, for callers that must not wait. The answer stays if later questions fail; callers check
 * its age.
 */
export class PolledAnswer<T> {
  private answer: { readonly value: T } | undefined;
  /** When the question of the present answer was asked. Before the first answer, when this was created. */
  private since: bigint;
  private hasFailed = false;
  private stopped = false;
  private cancel: Cancel = () => undefined;

  constructor(private readonly options: Asking<T>) {
    this.since = options.clock.monotonicNanos();
  }

  /** Asks at once, and then repeatedly, one question at a time. */
  start(): void {
    void this.ask().then(() => {
      if (this.stopped) return;
      const { clock, everyMillis } = this.options;
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
    return Number(this.options.clock.monotonicNanos() - this.since) / NANOS_PER_SECOND;
  }

  /** True if the last finished question was answered, and not longer than `maxAgeMillis` ago. */
  isCurrent(maxAgeMillis: number): boolean {
    return this.answer !== undefined && !this.hasFailed && this.ageSeconds * MILLIS_PER_SECOND < maxAgeMillis;
  }

  private async ask(): Promise<void> {
    const { clock, question, withinMillis, onFault } = this.options;
    const askedAt = clock.monotonicNanos();
    let cancel: Cancel = () => undefined;
    const timeout = new Promise<never>((_, reject) => {
      cancel = clock.after(withinMillis, () => {
        reject(new Error(`no answer within ${withinMillis} ms`));
      });
    });
    try {
      const value = await Promise.race([Promise.resolve().then(question), timeout]);
      this.answer = { value };
      this.since = askedAt;
      this.hasFailed = false;
    } catch (error) {
      this.hasFailed = true;
      onFault?.(error);
    } finally {
      cancel();
    }
  }
}
