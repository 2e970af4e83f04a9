import { NANOS_PER_MILLI } from '#libs/base/instant.js';
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

/** The lag of the projections of this shard, in events and in time. */
export class ProjectionWatch {
  private projected = 0;
  /** Heads of the journal at each poll, oldest first, until the projections reach them. */
  private observed: { readonly head: number; readonly at: bigint }[] = [];
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
    const oldest = this.observed[0];
    if (oldest === undefined) return false;
    const waited = this.options.clock.monotonicNanos() - oldest.at;
    return waited > BigInt(this.options.maxLagMillis) * NANOS_PER_MILLI;
  }

  async start(): Promise<void> {
    await this.refresh();
    this.cancel = repeat(this.options.clock, this.options.pollMillis ?? POLL_MILLIS, () => this.refresh());
  }

  stop(): void {
    this.cancel?.();
  }

  private async refresh(): Promise<void> {
    const head = this.options.head();
    if (head > (this.observed.at(-1)?.head ?? this.projected)) {
      this.observed.push({ head, at: this.options.clock.monotonicNanos() });
    }
    // The projections have everything.
    if (head === this.projected) return;
    try {
      const projected = await this.options.position();
      // A position past the head is wrong, or a successor has written there. This owner must not act on it: it may have other
      // events at these positions.
      if (projected === this.projected || projected > this.options.head()) return;
      const wentBack = projected < this.projected;
      this.projected = projected;
      // The position was corrected, or the projections are being rebuilt.
      if (wentBack) {
        this.observed = [{ head, at: this.options.clock.monotonicNanos() }];
        return;
      }
      const reached = this.observed.findIndex((sample) => sample.head > projected);
      this.observed = reached < 0 ? [] : this.observed.slice(reached);
      this.options.onProgress(projected);
    } catch {
      // Without a reply the observations grow older, so the projections count as late.
    }
  }
}
