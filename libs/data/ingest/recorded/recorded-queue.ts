import type { Clock } from '#libs/platform/time/clock.js';
import { Waiters } from '#libs/platform/time/waiters.js';
import type { MarketDataEvent } from '../../rules/events.js';
import type { SourceBatch } from '../source.js';
import type { TakenSlice } from './file-progress.js';

interface QueuedEvent {
  readonly event: MarketDataEvent;
  readonly slice: TakenSlice;
  readonly bytes: number;
}

interface EventCounts {
  journaled: number;
  books: number;
}

interface OpenBatch extends SourceBatch {
  readonly events: MarketDataEvent[];
  readonly counts: Map<TakenSlice, EventCounts>;
}

/** A constant: positions are stored per file, not in cursors. */
const CURSOR = 'files';
const MOST_EVENTS = 5_000;
const MOST_BYTES = 8_388_608;
const BATCH_BYTES = 2_097_152;

/** Queues events of one journal between the file reader and ingest. It is bounded, so that large files need little memory. */
export class RecordedQueue {
  private waiting: QueuedEvent[] = [];
  private bytes = 0;
  /** The batch that was handed out and is not yet durable. It is handed out again if the consumer did not take it. */
  private open: OpenBatch | undefined;
  private end: (() => void) | undefined;
  private hasEnd = false;
  private readonly waiters: Waiters;

  constructor(clock: Clock) {
    this.waiters = new Waiters(clock);
  }

  add(event: MarketDataEvent, slice: TakenSlice, bytes: number): void {
    this.waiting.push({ event, slice, bytes });
    this.bytes += bytes;
    slice.handOn();
  }

  /** Tells the consumer that files were read to the end they had at the start. */
  markEnd(onApplied: () => void): void {
    this.end = onApplied;
    this.hasEnd = true;
    this.waiters.check();
  }

  /** Wakes waiting readers and writers. */
  offer(): void {
    this.waiters.check();
  }

  async room(stop: AbortSignal): Promise<void> {
    await this.waiters.wait(
      () => stop.aborted || (this.waiting.length < MOST_EVENTS && this.bytes < MOST_BYTES),
    );
  }

  /** Undefined when stopping. */
  async next(stop: AbortSignal): Promise<SourceBatch | undefined> {
    const wake = (): void => {
      this.waiters.check();
    };
    stop.addEventListener('abort', wake);
    try {
      await this.waiters.wait(() => stop.aborted || this.hasNews);
    } finally {
      stop.removeEventListener('abort', wake);
    }
    if (stop.aborted) return undefined;
    this.open ??= this.cut();
    return this.open;
  }

  /** Call it when the last batch is durable. */
  settle(): void {
    const { counts } = this.open ?? {};
    this.open = undefined;
    for (const [slice, { journaled }] of counts ?? []) slice.settle(journaled);
  }

  private get hasNews(): boolean {
    return this.open !== undefined || this.waiting.length > 0 || this.hasEnd;
  }

  private cut(): OpenBatch {
    const events: MarketDataEvent[] = [];
    const counts = new Map<TakenSlice, EventCounts>();
    let bytes = 0;
    for (const { event, slice, bytes: size } of this.waiting) {
      if (events.length === MOST_EVENTS || bytes > BATCH_BYTES) break;
      events.push(event);
      bytes += size;
      const count = counts.get(slice) ?? { journaled: 0, books: 0 };
      counts.set(slice, count);
      if (event.type === 'BOOK') count.books += 1;
      else count.journaled += 1;
    }
    this.waiting = this.waiting.slice(events.length);
    this.bytes -= bytes;
    const isCaughtUp = this.hasEnd && this.waiting.length === 0;
    const end = isCaughtUp ? this.end : undefined;
    if (isCaughtUp) this.hasEnd = false;
    this.waiters.check();
    const onApplied = (): void => {
      for (const [slice, { journaled, books }] of counts) {
        slice.addApplied(journaled + books);
        slice.settle(books);
      }
      end?.();
    };
    return { events, counts, cursor: CURSOR, isCaughtUp, onApplied };
  }
}
