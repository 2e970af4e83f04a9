import { repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';

export interface CapacityWatchOptions {
  readonly clock: Clock;
  /** Whether the journal has room for what open auctions will still write. */
  readonly hasRoom: () => Promise<boolean>;
  readonly pollMillis?: number;
}

const POLL_MILLIS = 2_000;

/** Creates stop while the journal runs out of room, so that what is open already can still be ended. */
export class CapacityWatch {
  /** Undefined while nobody can tell. */
  private room: boolean | undefined;
  private cancel: Cancel | undefined;

  constructor(private readonly options: CapacityWatchOptions) {}

  isSound(): boolean {
    return this.room === true;
  }

  /** Whoever is told so looks at a disk: it is said where it is known alone. */
  isKnownFull(): boolean {
    return this.room === false;
  }

  async start(): Promise<void> {
    await this.look();
    this.cancel = repeat(this.options.clock, this.options.pollMillis ?? POLL_MILLIS, () => this.look());
  }

  stop(): void {
    this.cancel?.();
  }

  private async look(): Promise<void> {
    this.room = await this.options.hasRoom().catch(() => undefined);
  }
}
