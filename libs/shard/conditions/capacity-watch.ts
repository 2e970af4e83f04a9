import { repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';

export interface CapacityWatchOptions {
  readonly clock: Clock;
  /** Whether the journal has room for what the entities in memory will still write. */
  readonly hasRoom: () => Promise<boolean>;
  readonly pollMillis?: number;
}

const POLL_MILLIS = 2_000;

/** Watches the room of the journal. New work stops while there is still room to finish open work. */
export class CapacityWatch {
  /** Undefined while it is unknown. */
  private room: boolean | undefined;
  private cancel: Cancel | undefined;

  constructor(private readonly options: CapacityWatchOptions) {}

  isSound(): boolean {
    return this.room === true;
  }

  /** Reported only if known, because the error sends an operator to look at a disk. */
  isKnownFull(): boolean {
    return this.room === false;
  }

  async start(): Promise<void> {
    await this.poll();
    this.cancel = repeat(this.options.clock, this.options.pollMillis ?? POLL_MILLIS, () => this.poll());
  }

  stop(): void {
    this.cancel?.();
  }

  private async poll(): Promise<void> {
    this.room = await this.options.hasRoom().catch(() => undefined);
  }
}
