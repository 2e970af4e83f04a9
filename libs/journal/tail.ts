import { untilNext, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import type { JournalEntry, JournalReader } from './journal.js';
import type { OfferedEvents } from './offered.js';
import { TailLane } from './tail-lane.js';

const BATCH = 512;
/** Whoever cannot wait so long in quiet times gives hints. */
const POLL_MILLIS = { min: 5, max: 1_000 };

export interface TailOptions {
  readonly reader: JournalReader;
  readonly clock: Clock;
  /** By shard, the last sequence that has been taken already; 0 for everything. Only these shards are followed. */
  readonly positions: ReadonlyMap<number, number>;
  /**
   * Gets every entry once and in order, shard by shard; the next batch of a shard waits until this one is taken. When it
   * rejects, the same entries come again.
   */
  readonly onEntries: (shard: number, entries: readonly JournalEntry[]) => void | Promise<void>;
  /**
   * Told of everything that goes wrong, without a shard when the heads could not be read. All is tried again at the pace of
   * the polls, and behind a JournalCorrupt once a second: nothing of that shard is delivered until the damage is gone, and never
   * what does not follow the last entry that was.
   */
  readonly onFailure: (error: unknown, shard: number | undefined) => void;
  readonly batch?: number;
  /** Polls come faster while there is news and slower while there is none. */
  readonly pollMillis?: { readonly min: number; readonly max: number };
}

/** Follows shards of a journal from where its taker has left off. */
export class JournalTail {
  private readonly lanes: ReadonlyMap<number, TailLane>;
  private readonly pace: { readonly min: number; readonly max: number };
  private delay: number;
  private cancel: Cancel = () => undefined;
  private polling: Promise<void>;
  private stopped = false;

  constructor(private readonly options: TailOptions) {
    const { reader, clock, onEntries, onFailure, batch = BATCH } = options;
    const ports = { reader, clock, onEntries, onFailure, batch };
    this.lanes = new Map(
      [...options.positions].map(([shard, position]) => [shard, new TailLane(shard, position, ports)]),
    );
    this.pace = options.pollMillis ?? POLL_MILLIS;
    this.delay = this.pace.min;
    this.polling = this.poll();
  }

  /** Somebody has heard that the shard has come to `head`: saves waiting for the next poll. */
  hint(shard: number, head: number): void {
    this.lanes.get(shard)?.aim(head);
  }

  /** The same from somebody who tells what stands there as well, and need not be read again. */
  offer(shard: number, events: OfferedEvents): void {
    this.lanes.get(shard)?.offer(events);
  }

  /** The last sequence of the shard that has been taken. */
  position(shard: number): number | undefined {
    return this.lanes.get(shard)?.position;
  }

  /** Resolves when the batch in hand is taken; nothing is delivered after that. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.cancel();
    await Promise.all([this.polling, ...[...this.lanes.values()].map((lane) => lane.halt())]);
  }

  private async poll(): Promise<void> {
    let hasNews = false;
    try {
      const heads = await this.options.reader.heads([...this.lanes.keys()]);
      if (this.stopped) return;
      for (const [shard, head] of heads) {
        if (this.lanes.get(shard)?.aim(head) === true) hasNews = true;
      }
    } catch (error) {
      this.options.onFailure(error, undefined);
    }
    if (this.stopped) return;
    this.delay = hasNews ? this.pace.min : Math.min(this.pace.max, this.delay * 2);
    const { clock } = this.options;
    const millis = this.delay === this.pace.max ? untilNext(clock, this.delay) : this.delay;
    this.cancel = clock.after(millis, () => {
      this.polling = this.poll();
    });
  }
}

export function tail(options: TailOptions): JournalTail {
  return new JournalTail(options);
}
