import { repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';

export interface ProjectionWatchOptions {
  readonly clock: Clock;
  readonly position: () => Promise<number>;
  /** The last durable position of this shard. */
  readonly head: () => number;
  readonly onProgress: (projectedTo: number) => void;
  readonly maxLagEvents: number;
  readonly maxLagMillis: number;
  readonly pollMillis?: number;
}

const POLL_MILLIS = 200;
const NANOS_PER_MILLI = 1_000_000n;

/** How far the projections are behind this shard, in events and in time. */
export class ProjectionWatch {
  private projected = 0;
  /** Heads as they were seen, oldest first; those that the projections have reached are dropped. */
  private seen: { readonly head: number; readonly at: bigint }[] = [];
  private cancel: Cancel | undefined;

  constructor(private readonly options: ProjectionWatchOptions) {}

  get projectedTo(): number {
    return this.projected;
  }

  get lagEvents(): number {
    return Math.max(0, this.options.head() - this.projected);
  }

  isBehind(): boolean {
    if (this.lagEvents > this.options.maxLagEvents) return true;
    const oldest = this.seen[0];
    if (oldest === undefined) return false;
    const waited = this.options.clock.monotonicNanos() - oldest.at;
    return waited > BigInt(this.options.maxLagMillis) * NANOS_PER_MILLI;
  }

  async start(): Promise<void> {
    await this.look();
    this.cancel = repeat(this.options.clock, this.options.pollMillis ?? POLL_MILLIS, () => this.look());
  }

  stop(): void {
    this.cancel?.();
  }

  private async look(): Promise<void> {
    const head = this.options.head();
    if (head > (this.seen.at(-1)?.head ?? this.projected)) {
      this.seen.push({ head, at: this.options.clock.monotonicNanos() });
    }
    // Nothing has been written that the projections do not have.
    if (head === this.projected) return;
    try {
      const projected = await this.options.position();
      // What is not written yet cannot be projected, unless by a false word; or a successor has written there, and this owner may just have
      // given the same places to something else.
      if (projected === this.projected || projected > this.options.head()) return;
      const wentBack = projected < this.projected;
      this.projected = projected;
      // Somebody has put it right, or makes them anew.
      if (wentBack) {
        this.seen = [{ head, at: this.options.clock.monotonicNanos() }];
        return;
      }
      const reached = this.seen.findIndex((sample) => sample.head > projected);
      this.seen = reached < 0 ? [] : this.seen.slice(reached);
      this.options.onProgress(projected);
    } catch {
      // Not to know is to be behind: the samples grow older until the database answers.
    }
  }
}
