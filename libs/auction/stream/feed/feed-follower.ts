import { isDamage } from '#libs/journal/journal-errors.js';
import type { JournalEntry, JournalReader } from '#libs/journal/journal.js';
import type { OfferedEvents } from '#libs/journal/offered.js';
import { tail, type JournalTail } from '#libs/journal/tail.js';
import type { Cancel, Clock } from '#libs/platform/time/clock.js';

/** For shards whose owner sends no notices. */
const POLL_MILLIS = { min: 100, max: 1_000 };
/** How soon an unknown shard is tried again: an operator may have repaired it. */
const RETRY_MILLIS = 1_000;

export interface FeedFollowerPorts {
  readonly reader: JournalReader;
  readonly clock: Clock;
  readonly shards: readonly number[];
  /** Restores the shard's state up to its starting point. */
  readonly restore: (shard: number) => Promise<void>;
  readonly positionOf: (shard: number) => number;
  readonly hasStopped: (shard: number) => boolean;
  /** Resolves once `isDone` holds. It is checked after every batch and every stop. */
  readonly until: (isDone: () => boolean) => Promise<unknown>;
  readonly onEntries: (shard: number, entries: readonly JournalEntry[]) => void;
  readonly onDamage: (shard: number, error: unknown) => void;
  readonly onFailure: (error: unknown, shard: number | undefined) => void;
}

/**
 * Reads shards up to their heads and follows them. A damaged shard does not block the others: it stays unknown
 * until it was read to its end.
 */
export class FeedFollower {
  private readonly tails: JournalTail[] = [];
  private readonly restored = new Set<number>();
  private readonly unknown = new Set<number>();
  private cancel: Cancel = () => undefined;
  private stopped = false;

  constructor(private readonly ports: FeedFollowerPorts) {}

  /** Resolves when everything in the journals was read, except on damaged shards. */
  async start(): Promise<void> {
    const { shards } = this.ports;
    for (const shard of shards) await this.restore(shard);
    this.follow([...this.restored]);
    await Promise.all(shards.map((shard) => this.catchUp(shard)));
    this.retryLater();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.cancel();
    await Promise.all(this.tails.map((one) => one.stop()));
  }

  /** Shards whose journals are longer than what was ever read here. */
  get unknownShards(): readonly number[] {
    return [...this.unknown];
  }

  hint(shard: number, head: number): void {
    for (const one of this.tails) one.hint(shard, head);
  }

  offer(shard: number, events: OfferedEvents): void {
    for (const one of this.tails) one.offer(shard, events);
  }

  private async restore(shard: number): Promise<void> {
    try {
      await this.ports.restore(shard);
      this.restored.add(shard);
    } catch (error) {
      this.handleDamage(shard, error);
    }
  }

  private handleDamage(shard: number, error: unknown): void {
    if (!isDamage(error)) throw error;
    this.unknown.add(shard);
    this.ports.onDamage(shard, error);
  }

  private follow(shards: readonly number[]): void {
    const { reader, clock, positionOf, onEntries, onDamage, onFailure } = this.ports;
    this.tails.push(
      tail({
        reader,
        clock,
        positions: new Map(shards.map((shard) => [shard, positionOf(shard)])),
        pollMillis: POLL_MILLIS,
        onEntries,
        onFailure: (error, shard) => {
          if (shard !== undefined && isDamage(error)) onDamage(shard, error);
          else onFailure(error, shard);
        },
      }),
    );
  }

  /** The shard is known once everything up to its present head was read. */
  private async catchUp(shard: number): Promise<void> {
    if (!this.restored.has(shard)) return;
    const { reader, positionOf, hasStopped, until } = this.ports;
    try {
      const head = (await reader.heads([shard])).get(shard) ?? 0;
      const isThere = (): boolean => positionOf(shard) >= head;
      await until(() => isThere() || hasStopped(shard));
      if (isThere()) this.unknown.delete(shard);
      else this.unknown.add(shard);
    } catch (error) {
      this.handleDamage(shard, error);
    }
  }

  private retryLater(): void {
    if (this.stopped || this.unknown.size === 0) return;
    this.cancel = this.ports.clock.after(RETRY_MILLIS, () => {
      void this.retryUnknown().finally(() => {
        this.retryLater();
      });
    });
  }

  private async retryUnknown(): Promise<void> {
    for (const shard of this.unknown) {
      try {
        await this.retry(shard);
      } catch (error) {
        if (!this.stopped) this.ports.onFailure(error, shard);
      }
    }
  }

  private async retry(shard: number): Promise<void> {
    if (!this.restored.has(shard)) {
      await this.restore(shard);
      if (!this.restored.has(shard) || this.stopped) return;
      this.follow([shard]);
    }
    if (!this.ports.hasStopped(shard)) await this.catchUp(shard);
  }
}
