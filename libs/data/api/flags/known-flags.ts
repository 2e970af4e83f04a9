import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { FlagSettings } from '../../rules/flags.js';

/** Where flags are stored. */
export interface FlagSource {
  all(): Promise<FlagSettings>;
}

/** If the settings are older than this, a caller waits for new ones. */
const MOST_AGE = 5_000n * NANOS_PER_MILLI;
/** If they are older than this, they are read again while callers go on with the old ones. */
const REFRESH_AGE = 1_000n * NANOS_PER_MILLI;
const READ_MILLIS = 1_000;

interface Known {
  readonly settings: FlagSettings;
  /** The time before the read began. */
  readonly asOf: bigint;
}

/** Caches the flags in a process. A change takes effect everywhere within five seconds. */
export class KnownFlags {
  private current: Known | undefined;
  /** A read that began before this time is not used. */
  private changedAt = 0n;
  private reading: Promise<void> | undefined;

  constructor(
    private readonly source: FlagSource,
    private readonly clock: Clock,
  ) {}

  /** Undefined if the settings are too old and cannot be read within a second. */
  async verified(): Promise<FlagSettings | undefined> {
    if (this.age() > REFRESH_AGE) {
      const reading = this.read();
      if (this.age() > MOST_AGE) await this.within(reading);
    }
    return this.age() > MOST_AGE ? undefined : this.current?.settings;
  }

  /** The last known settings, for uses that need no certainty; the defaults if none were ever read. */
  async lastKnown(): Promise<FlagSettings> {
    return (await this.verified()) ?? this.current?.settings ?? new Map();
  }

  /** Call it after a change by this process. */
  forget(): void {
    this.changedAt = this.clock.monotonicNanos();
    if (this.current !== undefined) this.current = { ...this.current, asOf: this.changedAt - MOST_AGE - 1n };
  }

  private age(): bigint {
    return this.current === undefined ? MOST_AGE + 1n : this.clock.monotonicNanos() - this.current.asOf;
  }

  /** One read at a time. A failed read shows in the age of the settings. */
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
    if (asOf >= this.changedAt) this.current = { settings, asOf };
    else await this.readNow();
  }

  private async within(reading: Promise<void>): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.clock.after(READ_MILLIS, resolve);
      void reading.finally(() => {
        cancel();
        resolve();
      });
    });
  }
}
