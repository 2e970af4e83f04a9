import { nextTurn, type Clock } from '#libs/platform/time/clock.js';
import type { JournalEntry, JournalReader } from './journal.js';
import { JournalCorrupt } from './journal-errors.js';
import { Offered, type OfferedEvents } from './offered.js';

/** How soon damage is looked at again: somebody may have taken away what stood there. */
const LOOK_AGAIN_NANOS = 1_000_000_000n;

export interface LanePorts {
  readonly reader: JournalReader;
  readonly clock: Clock;
  readonly batch: number;
  readonly onEntries: (shard: number, entries: readonly JournalEntry[]) => void | Promise<void>;
  readonly onFailure: (error: unknown, shard: number) => void;
}

/** One shard of a tail: reads towards the newest known head, one batch at a time, as fast as its taker takes. */
export class TailLane {
  private known: number;
  /** Of the entry at `delivered`, as it was when it was delivered. */
  private hash: string | undefined;
  private running: Promise<void> | undefined;
  private halted = false;
  private readonly offered = new Offered();
  /** When damage was last met behind what was delivered; until it is gone nothing is. */
  private damagedAt: bigint | undefined;

  constructor(
    readonly shard: number,
    private delivered: number,
    private readonly ports: LanePorts,
  ) {
    this.known = delivered;
  }

  /** The last sequence that the taker has taken. */
  get position(): number {
    return this.delivered;
  }

  /** Somebody says that the shard has come to `head`. True when that was news. */
  aim(head: number): boolean {
    const isNews = head > this.known && this.damagedAt === undefined;
    if (head > this.known) this.known = head;
    this.wake();
    return isNews;
  }

  /** What stands there is known, too, if it follows what was delivered. At damage the journal alone is believed. */
  offer(events: OfferedEvents): void {
    if (this.damagedAt === undefined && !this.halted) this.offered.put(events);
    this.aim(events.head);
  }

  /** Resolves when the taker is left alone for good. */
  async halt(): Promise<void> {
    this.halted = true;
    await this.running;
  }

  private wake(): void {
    if (this.running !== undefined || this.halted || this.delivered >= this.known || this.hasJustMetDamage())
      return;
    this.running = this.catchUp().finally(() => {
      this.running = undefined;
      this.wake();
    });
  }

  private hasJustMetDamage(): boolean {
    const { damagedAt } = this;
    return damagedAt !== undefined && this.ports.clock.monotonicNanos() - damagedAt < LOOK_AGAIN_NANOS;
  }

  private async catchUp(): Promise<void> {
    try {
      while (!this.halted && this.delivered < this.known) {
        if (!(await this.deliverNext())) return;
      }
    } catch (error) {
      // Nothing is forgotten: whoever next says how far the shard has come starts this lane again.
      this.known = this.delivered;
      this.offered.clear();
      this.damagedAt = error instanceof JournalCorrupt ? this.ports.clock.monotonicNanos() : undefined;
      this.ports.onFailure(error, this.shard);
    }
  }

  private async deliverNext(): Promise<boolean> {
    const { onEntries } = this.ports;
    const entries = (await this.offeredNext()) ?? (await this.readNext());
    const last = entries.at(-1);
    if (this.halted) return false;
    if (last === undefined) {
      // The hint was ahead of what this reader can see yet.
      this.known = this.delivered;
      return false;
    }
    this.checkContinuity(entries);
    this.damagedAt = undefined;
    await onEntries(this.shard, entries);
    this.delivered = last.sequence;
    this.hash = last.hash;
    return true;
  }

  private readNext(): Promise<JournalEntry[]> {
    const { reader, batch } = this.ports;
    return reader.read(this.shard, this.delivered + 1, batch);
  }

  private async offeredNext(): Promise<JournalEntry[] | undefined> {
    if (this.hash === undefined) return undefined;
    const entries = this.offered.behind(this.shard, { sequence: this.delivered, hash: this.hash });
    // Whoever has caused them is answered first: the answer came by the same message.
    if (entries !== undefined) await nextTurn();
    return entries;
  }

  /** Each page is sound in itself; this finds a history that was written anew, chain and all, between two pages. */
  private checkContinuity([first]: readonly JournalEntry[]): void {
    if (first === undefined || this.hash === undefined || first.previousHash === this.hash) return;
    throw new JournalCorrupt(this.shard, this.delivered, 'it is not the record that was read here before');
  }
}
