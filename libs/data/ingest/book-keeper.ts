import type { Clock } from '#libs/platform/time/clock.js';
import { bookAfter, type BookState } from '../rules/books.js';
import type { BookEvent } from '../rules/events.js';
import type { Provider } from '../rules/providers.js';
import type { BookKey, BookTable } from '../store/book-table.js';

/** The least time between two writes of a book. Only its newest state is stored. */
export const BOOK_MILLIS = 250;

interface KeptBook {
  readonly key: BookKey;
  readonly book: BookState | undefined;
}

/** Keeps the newest state of each order book of one provider, and stores it. */
export class BookKeeper {
  private readonly books = new Map<string, KeptBook>();
  private readonly markets = new Set<string>();
  private changed = new Set<string>();
  private flushing: Promise<void> = Promise.resolve();
  private isPaused = false;
  private isWriting = false;
  private taken = 0;
  private stored = 0;

  constructor(
    private readonly provider: Provider,
    private readonly table: BookTable,
    private readonly ports: { readonly clock: Clock; readonly onFault: (error: unknown) => void },
  ) {}

  /** While paused, nothing is stored. Resuming stores the newest states. */
  pause(isPaused: boolean): void {
    this.isPaused = isPaused;
    if (!isPaused) this.flushSoon();
  }

  /** How many batches of events were received. */
  get batches(): number {
    return this.taken;
  }

  /** How many of those batches, counted from the first, are stored completely. */
  get storedBatches(): number {
    return this.stored;
  }

  async take(events: readonly BookEvent[]): Promise<void> {
    await this.load(events);
    this.taken += 1;
    for (const event of events) {
      const name = nameOf(event);
      const { book } = this.books.get(name) ?? {};
      if (book !== undefined && isOld(event, book)) continue;
      const next = bookAfter(book, event);
      if (next === undefined || next === book) continue;
      const { market_id, outcome_index } = event;
      this.books.set(name, { key: { market_id, outcome_index }, book: next });
      if (this.changed.size === 0) this.flushSoon();
      this.changed.add(name);
    }
    if (!this.isWriting) this.noteStored();
  }

  /** With no unstored change, all batches received so far count as stored. */
  private noteStored(): void {
    if (this.changed.size === 0) this.stored = this.taken;
  }

  /** Stores all changed books now. */
  flush(): Promise<void> {
    const flushed = this.flushing.then(() => this.flushNow());
    this.flushing = flushed.catch(() => undefined);
    return flushed;
  }

  private flushSoon(): void {
    const { clock, onFault } = this.ports;
    clock.after(BOOK_MILLIS, () => {
      this.flush().catch(onFault);
    });
  }

  private async flushNow(): Promise<void> {
    if (this.isPaused) return;
    const { changed, taken } = this;
    this.changed = new Set();
    this.isWriting = true;
    try {
      await this.table.write(
        this.provider,
        [...changed].flatMap((name) => {
          const { key, book } = this.books.get(name) ?? {};
          return key === undefined || book === undefined ? [] : [{ ...key, book }];
        }),
      );
      this.stored = taken;
      this.noteStored();
    } catch (error) {
      for (const name of changed) this.changed.add(name);
      this.flushSoon();
      throw error;
    } finally {
      this.isWriting = false;
    }
  }

  /** Loads the stored books first: a source that resumes sends changes to them. */
  private async load(events: readonly BookEvent[]): Promise<void> {
    const unknown = [...new Set(events.map(({ market_id }) => market_id))].filter(
      (id) => !this.markets.has(id),
    );
    if (unknown.length === 0) return;
    for (const { book, ...key } of await this.table.find(this.provider, unknown)) {
      this.books.set(nameOf(key), { key, book });
    }
    for (const id of unknown) this.markets.add(id);
  }
}

function nameOf({ market_id, outcome_index }: BookKey): string {
  return `${String(outcome_index)}:${market_id}`;
}

/**
 * A snapshot that is older than the book is one that was read again. Both number and time must be older, because numbers may start
 * again from the beginning.
 */
function isOld(event: BookEvent, book: BookState): boolean {
  return event.snapshot && event.sequence <= book.sequence && event.source_ts < book.source_ts;
}
