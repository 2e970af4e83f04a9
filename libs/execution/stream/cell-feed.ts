import { isDamage } from '#libs/journal/journal-errors.js';
import type { JournalEntry, JournalReader } from '#libs/journal/journal.js';
import type { JournalNotice } from '#libs/link/journal-notices.js';
import { type JournalTail, tail } from '#libs/journal/tail.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { Waiters } from '#libs/platform/time/waiters.js';
import type { JournaledEvent } from './told.js';
import { decodeCellEvent } from '../protocol/event-codec.js';

/** For cells that send no notices. */
const POLL_MILLIS = { min: 50, max: 500 };

/** Hears the events of one user, in the order of the journal. It handles its own failures. */
export type UserListener = (events: readonly JournaledEvent[]) => void;

export interface CellFeedPorts {
  readonly reader: JournalReader;
  readonly clock: Clock;
  readonly cells: number;
  readonly onFailure: (error: unknown, cell: number | undefined) => void;
}

/**
 * Follows the journals of all cells from where they end when it starts, and tells the events of a user to those who listen. What came
 * before is the cell's to tell.
 *
 * A record that it cannot read ends the cell for this process: what follows would come out wrong without it. At damage the cell stands
 * still, and goes on when a sound record follows.
 */
export class CellFeed {
  private readonly listeners = new Map<string, Set<UserListener>>();
  private readonly taken = new Map<number, number>();
  private readonly damaged = new Set<number>();
  private readonly ended = new Set<number>();
  private readonly waiters: Waiters;
  private tail: JournalTail | undefined;

  constructor(private readonly ports: CellFeedPorts) {
    this.waiters = new Waiters(ports.clock);
  }

  async start(): Promise<void> {
    const { reader, clock, cells, onFailure } = this.ports;
    const heads = await reader.heads();
    for (let cell = 0; cell < cells; cell += 1) this.taken.set(cell, heads.get(cell) ?? 0);
    this.tail = tail({
      reader,
      clock,
      positions: this.taken,
      pollMillis: POLL_MILLIS,
      onEntries: (cell, entries) => {
        this.take(cell, entries);
      },
      onFailure: (error, cell) => {
        if (cell !== undefined && isDamage(error)) this.damaged.add(cell);
        onFailure(error, cell);
      },
    });
  }

  async stop(): Promise<void> {
    await this.tail?.stop();
  }

  /** The cell says that its journal has come to `head`, and perhaps with which records. */
  hear(cell: number, { head, records }: JournalNotice): void {
    if (records === undefined) this.tail?.hint(cell, head);
    else this.tail?.offer(cell, { head, ...records });
  }

  /** The last position of the cell that every listener was told of. */
  position(cell: number): number {
    return this.taken.get(cell) ?? 0;
  }

  /** Where the journal of the cell ends at this moment. */
  async head(cell: number): Promise<number> {
    return (await this.ports.reader.heads([cell])).get(cell) ?? 0;
  }

  /** Cells of which nothing more is told in this process. */
  get endedCells(): number {
    return this.ended.size;
  }

  get isWhole(): boolean {
    return this.tail !== undefined && this.ended.size === 0 && this.damaged.size === 0;
  }

  listen(user: string, listener: UserListener): () => void {
    const listeners = this.listeners.get(user) ?? new Set();
    this.listeners.set(user, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.listeners.get(user) === listeners) this.listeners.delete(user);
    };
  }

  /** Resolves with true once `isDone` holds after a batch, and with false after `millis`. */
  waitUntil(isDone: () => boolean, millis: number): Promise<boolean> {
    return this.waiters.wait(isDone, millis);
  }

  private take(cell: number, entries: readonly JournalEntry[]): void {
    if (this.ended.has(cell)) return;
    this.damaged.delete(cell);
    const news = new Map<string, JournaledEvent[]>();
    let last = this.position(cell);
    for (const entry of entries) {
      try {
        this.sort(entry, news);
      } catch (error) {
        this.ended.add(cell);
        this.ports.onFailure(error, cell);
        break;
      }
      last = entry.sequence;
    }
    this.taken.set(cell, last);
    for (const [user, events] of news) {
      for (const listener of [...(this.listeners.get(user) ?? [])]) listener(events);
    }
    this.waiters.check();
  }

  /** Where nobody listens nothing need be read. */
  private sort(entry: JournalEntry, news: Map<string, JournaledEvent[]>): void {
    if (this.listeners.size === 0) return;
    const placed = readCellEvent(entry);
    if (placed === undefined || !this.listeners.has(placed.event.user_id)) return;
    const earlier = news.get(placed.event.user_id);
    if (earlier === undefined) news.set(placed.event.user_id, [placed]);
    else earlier.push(placed);
  }
}

/** Undefined for a record that holds no event. Throws for one that this version does not understand. */
export function readCellEvent({ kind, payload, sequence }: JournalEntry): JournaledEvent | undefined {
  return kind === 'event' ? { position: sequence, event: decodeCellEvent(payload) } : undefined;
}
