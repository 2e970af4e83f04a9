import { isDamage } from '#libs/journal/journal-errors.js';
import type { JournalEntry, JournalReader } from '#libs/journal/journal.js';
import type { OfferedEvents } from '#libs/journal/offered.js';
import { tail, type JournalTail } from '#libs/journal/tail.js';
import type { Cancel, Clock } from '#libs/platform/time/clock.js';

/** For shards whose owner cannot tell of what it has written. */
const POLL_MILLIS = { min: 100, max: 1_000 };
/** How soon a shard that could not be known is looked at again: somebody may have mended it. */
const LOOK_AGAIN_MILLIS = 1_000;

export interface PursuitPorts {
  readonly reader: JournalReader;
  readonly clock: Clock;
  readonly shards: readonly number[];
  /** Brings to mind what the journal need not be read for. */
  readonly recall: (shard: number) => Promise<void>;
  readonly positionOf: (shard: number) => number;
  readonly hasStopped: (shard: number) => boolean;
  /** Resolves when `isDone` holds, which is looked at behind every batch and every stop. */
  readonly until: (isDone: () => boolean) => Promise<unknown>;
  readonly onEntries: (shard: number, entries: readonly JournalEntry[]) => void;
  readonly onDamage: (shard: number, error: unknown) => void;
  readonly onFailure: (error: unknown, shard: number | undefined) => void;
}

/**
 * Brings shards to where their journals end, and follows them. A shard that is damaged keeps nobody from the others: it is unknown until
 * it has been followed up to its end.
 */
export class Pursuit {
  private readonly tails: JournalTail[] = [];
  private readonly recalled = new Set<number>();
  private readonly unknown = new Set<number>();
  private cancel: Cancel = () => undefined;
  private stopped = false;

  constructor(private readonly ports: PursuitPorts) {}

  /** Resolves when everything that was in the journals has been taken, but for shards that are damaged. */
  async start(): Promise<void> {
    const { shards } = this.ports;
    for (const shard of shards) await this.recall(shard);
    this.follow([...this.recalled]);
    await Promise.all(shards.map((shard) => this.catchUp(shard)));
    this.lookAgainLater();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.cancel();
    await Promise.all(this.tails.map((one) => one.stop()));
  }

  /** Shards of which there is more than has ever been taken here. */
  get unknownShards(): readonly number[] {
    return [...this.unknown];
  }

  hint(shard: number, head: number): void {
    for (const one of this.tails) one.hint(shard, head);
  }

  offer(shard: number, events: OfferedEvents): void {
    for (const one of this.tails) one.offer(shard, events);
  }

  private async recall(shard: number): Promise<void> {
    try {
      await this.ports.recall(shard);
      this.recalled.add(shard);
    } catch (error) {
      this.heed(shard, error);
    }
  }

  private heed(shard: number, error: unknown): void {
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

  /** The shard is known once everything has been taken that stands there now. */
  private async catchUp(shard: number): Promise<void> {
    if (!this.recalled.has(shard)) return;
    const { reader, positionOf, hasStopped, until } = this.ports;
    try {
      const head = (await reader.heads([shard])).get(shard) ?? 0;
      const isThere = (): boolean => positionOf(shard) >= head;
      await until(() => isThere() || hasStopped(shard));
      if (isThere()) this.unknown.delete(shard);
      else this.unknown.add(shard);
    } catch (error) {
      this.heed(shard, error);
    }
  }

  private lookAgainLater(): void {
    if (this.stopped || this.unknown.size === 0) return;
    this.cancel = this.ports.clock.after(LOOK_AGAIN_MILLIS, () => {
      void this.lookAgain().finally(() => {
        this.lookAgainLater();
      });
    });
  }

  private async lookAgain(): Promise<void> {
    for (const shard of this.unknown) {
      try {
        await this.pursue(shard);
      } catch (error) {
        if (!this.stopped) this.ports.onFailure(error, shard);
      }
    }
  }

  private async pursue(shard: number): Promise<void> {
    if (!this.recalled.has(shard)) {
      await this.recall(shard);
      if (!this.recalled.has(shard) || this.stopped) return;
      this.follow([shard]);
    }
    if (!this.ports.hasStopped(shard)) await this.catchUp(shard);
  }
}
