import { nextTurn, type Clock } from '#libs/platform/time/clock.js';
import type { JournalEntry, JournalReader } from './journal.js';
import { JournalCorrupt } from './journal-errors.js';
import { Offered, type OfferedEvents } from './offered.js';

/** How soon damaged records are read again. They may have been repaired. */
const LOOK_AGAIN_NANOS = 1_000_000_000n;

export interface ShardTailPorts {
  readonly reader: JournalReader;
  readonly clock: Clock;
  readonly batch: number;
  readonly onEntries: (shard: number, entries: readonly JournalEntry[]) => void | Promise<void>;
  readonly onFailure: (error: unknown, shard: number) => void;
}

/** Follows one shard: reads up to the newest known head, one batch at a time, as fast as its consumer takes them. */
export class ShardTail {
  private known: number;
  /** Hash of the entry at `delivered`, when it was delivered. */
  private hash: string | undefined;
  private running: Promise<void> | undefined;
  private halted = false;
  private readonly offered = new Offered();
  /** When damage was last met after the delivered entries. Nothing is delivered until it is gone. */
  private damagedAt: bigint | undefined;

  constructor(
    readonly shard: number,
    private delivered: number,
    private readonly ports: ShardTailPorts,
  ) {
    this.known = delivered;
  }

  /** The last sequence that the consumer has taken. */
  get position(): number {
    return this.delivered;
  }

  /** Takes a hint that the shard's head is `head`. Returns true if that was new. */
  aim(head: number): boolean {
    const isNews = head > this.known && this.damagedAt === undefined;
    if (head > this.known) this.known = head;
    this.wake();
    return isNews;
  }

  /**
   * The same hint with the events themselves, which are used if they follow the delivered ones. After damage only the journal is
   * trusted.
   */
  offer(events: OfferedEvents): void {
    if (this.damagedAt === undefined && !this.halted) this.offered.put(events);
    this.aim(events.head);
  }

  /** Resolves when nothing more will be delivered. */
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
      // The next hint starts this tail again.
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
      // The reader does not see the hinted record yet.
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
    // The caller of these events is answered first: its reply came in the same message.
    if (entries !== undefined) await nextTurn();
    return entries;
  }

  /** Each page is valid in itself. This detects a journal that was rewritten between two pages, hashes included. */
  private checkContinuity([first]: readonly JournalEntry[]): void {
    if (first === undefined || this.hash === undefined || first.previousHash === this.hash) return;
    throw new JournalCorrupt(this.shard, this.delivered, 'it is not the record that was read here before');
  }
}
