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

/** Receives the events of one user, in journal order. It must handle its own failures. */
export type UserListener = (events: readonly JournaledEvent[]) => void;

export interface CellFeedPorts {
  readonly reader: JournalReader;
  readonly clock: Clock;
  readonly cells: number;
  readonly onFailure: (error: unknown, cell: number | undefined) => void;
}

/**
 * Follows the journals of all cells from their heads at the start, and passes each user's events to its listeners.
 * The cell itself supplies what came before. An unreadable record ends the cell in this process. Damage only pauses
 * it until a sound record follows.
 */
export class CellFeed {
  private readonly listeners = new Map<string, Set<UserListener>>();
  private readonly positions = new Map<number, number>();
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
    for (let cell = 0; cell < cells; cell += 1) this.positions.set(cell, heads.get(cell) ?? 0);
    this.tail = tail({
      reader,
      clock,
      positions: this.positions,
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

  /** A cell's notice of its journal's new head, with the new records if it sends them. */
  hear(cell: number, { head, records }: JournalNotice): void {
    if (records === undefined) this.tail?.hint(cell, head);
    else this.tail?.offer(cell, { head, ...records });
  }

  /** The last position of the cell that all listeners have received. */
  position(cell: number): number {
    return this.positions.get(cell) ?? 0;
  }

  /** The present head of the cell's journal. */
  async head(cell: number): Promise<number> {
    return (await this.ports.reader.heads([cell])).get(cell) ?? 0;
  }

  /** How many cells this process no longer follows. */
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

  /** Resolves to true once `isDone` holds after a batch, and to false after `millis`. */
  waitUntil(isDone: () => boolean, millis: number): Promise<boolean> {
    return this.waiters.wait(isDone, millis);
  }

  private take(cell: number, entries: readonly JournalEntry[]): void {
    if (this.ended.has(cell)) return;
    this.damaged.delete(cell);
    const eventsByUser = new Map<string, JournaledEvent[]>();
    let last = this.position(cell);
    for (const entry of entries) {
      try {
        this.sort(entry, eventsByUser);
      } catch (error) {
        this.ended.add(cell);
        this.ports.onFailure(error, cell);
        break;
      }
      last = entry.sequence;
    }
    this.positions.set(cell, last);
    for (const [user, events] of eventsByUser) {
      for (const listener of [...(this.listeners.get(user) ?? [])]) listener(events);
    }
    this.waiters.check();
  }

  /** Without listeners, no record need be read. */
  private sort(entry: JournalEntry, eventsByUser: Map<string, JournaledEvent[]>): void {
    if (this.listeners.size === 0) return;
    const placed = readCellEvent(entry);
    if (placed === undefined || !this.listeners.has(placed.event.user_id)) return;
    const earlier = eventsByUser.get(placed.event.user_id);
    if (earlier === undefined) eventsByUser.set(placed.event.user_id, [placed]);
    else earlier.push(placed);
  }
}

/** Undefined for a record without an event. Throws if this version does not understand the event. */
export function readCellEvent({ kind, payload, sequence }: JournalEntry): JournaledEvent | undefined {
  return kind === 'event' ? { position: sequence, event: decodeCellEvent(payload) } : undefined;
}
