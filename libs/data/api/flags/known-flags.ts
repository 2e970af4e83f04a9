import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { FlagSettings } from '../../rules/flags.js';

/** Where flags are kept. */
export interface FlagSource {
  all(): Promise<FlagSettings>;
}

/** A caller waits for settings that are older. */
const MOST_AGE = 5_000n * NANOS_PER_MILLI;
/** Older ones are read anew, while callers go on with what is known. */
const REFRESH_AGE = 1_000n * NANOS_PER_MILLI;
const ASK_MILLIS = 1_000;

interface Known {
  readonly settings: FlagSettings;
  /** Before they were read. */
  readonly asOf: bigint;
}

/** The flags as every process knows them: a change holds everywhere within five seconds. */
export class KnownFlags {
  private known: Known | undefined;
  /** Of a reading that began before it, nothing is kept. */
  private changedAt = 0n;
  private reading: Promise<void> | undefined;

  constructor(
    private readonly source: FlagSource,
    private readonly clock: Clock,
  ) {}

  /** Undefined: they are not known well enough, and cannot be read within a second. */
  async verified(): Promise<FlagSettings | undefined> {
    if (this.age() > REFRESH_AGE) {
      const reading = this.read();
      if (this.age() > MOST_AGE) await this.within(reading);
    }
    return this.age() > MOST_AGE ? undefined : this.known?.settings;
  }

  /** As they were last known, for what needs no proof; as they stand at first, where nothing is known. */
  async lastKnown(): Promise<FlagSettings> {
    return (await this.verified()) ?? this.known?.settings ?? new Map();
  }

  /** After a change by this process. */
  forget(): void {
    this.changedAt = this.clock.monotonicNanos();
    if (this.known !== undefined) this.known = { ...this.known, asOf: this.changedAt - MOST_AGE - 1n };
  }

  private age(): bigint {
    return this.known === undefined ? MOST_AGE + 1n : this.clock.monotonicNanos() - this.known.asOf;
  }

  /** One at a time. What fails is seen by the age of what is known. */
  private read(): Promise<void> {
    this.reading ??= this.readNow()
      .catch(() => undefined)
      .finally(() => {
        this.reading = undefined;
      });
    return this.reading;
  }

  private async readNow(): Promise<void> {
    const asOf = this.clock.monotonicNanos();
    const settings = await this.source.all();
    if (asOf >= this.changedAt) this.known = { settings, asOf };
    else await this.readNow();
  }

  private async within(reading: Promise<void>): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.clock.after(ASK_MILLIS, resolve);
      void reading.finally(() => {
        cancel();
        resolve();
      });
    });
  }
}
