import { untilNext, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import type { JournalEntry, JournalReader } from './journal.js';
import type { OfferedEvents } from './offered.js';
import { ShardTail } from './shard-tail.js';

const BATCH = 512;
/** Callers that cannot wait that long in quiet times give hints. */
const POLL_MILLIS = { min: 5, max: 1_000 };

export interface TailOptions {
  readonly reader: JournalReader;
  readonly clock: Clock;
  /** By shard, the last sequence that was taken already; 0 for none. Only these shards are followed. */
  readonly positions: ReadonlyMap<number, number>;
  /**
   * Gets every entry once and in order, shard by shard; the next batch of a shard waits until this one is taken. If it rejects, the
   * same entries come again.
   */
  readonly onEntries: (shard: number, entries: readonly JournalEntry[]) => void | Promise<void>;
  /**
   * Receives every failure, without a shard if the heads could not be read. Everything is retried with the next poll, and once a second
   * after a JournalCorrupt. Until the damage is gone nothing of that shard is delivered, and never an entry that does not follow the
   * last delivered one.
   */
  readonly onFailure: (error: unknown, shard: number | undefined) => void;
  readonly batch?: number;
  /** Polls come faster while there is news and slower while there is none. */
  readonly pollMillis?: { readonly min: number; readonly max: number };
}

/** Follows shards of a journal from where its consumer left off. */
export class JournalTail {
  private readonly tails: ReadonlyMap<number, ShardTail>;
  private readonly pace: { readonly min: number; readonly max: number };
  private delay: number;
  private cancel: Cancel = () => undefined;
  private polling: Promise<void>;
  private stopped = false;

  constructor(private readonly options: TailOptions) {
    const { reader, clock, onEntries, onFailure, batch = BATCH } = options;
    const ports = { reader, clock, onEntries, onFailure, batch };
    this.tails = new Map(
      [...options.positions].map(([shard, position]) => [shard, new ShardTail(shard, position, ports)]),
    );
    this.pace = options.pollMillis ?? POLL_MILLIS;
    this.delay = this.pace.min;
    this.polling = this.poll();
  }

  /** A hint that the shard's head is `head`: saves waiting for the next poll. */
  hint(shard: number, head: number): void {
    this.tails.get(shard)?.aim(head);
  }

  /** The same with the events, which then need not be read. */
  offer(shard: number, events: OfferedEvents): void {
    this.tails.get(shard)?.offer(events);
  }

  /** The last sequence of the shard that has been taken. */
  position(shard: number): number | undefined {
    return this.tails.get(shard)?.position;
  }

  /** Resolves when the current batch is taken; nothing is delivered after that. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.cancel();
    await Promise.all([this.polling, ...[...this.tails.values()].map((tail) => tail.halt())]);
  }

  private async poll(): Promise<void> {
    let hasNews = false;
    try {
      const heads = await this.options.reader.heads([...this.tails.keys()]);
      if (this.stopped) return;
      for (const [shard, head] of heads) {
        if (this.tails.get(shard)?.aim(head) === true) hasNews = true;
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
