import type { Clock } from '#libs/platform/time/clock.js';
import type { BookEvent } from '../../rules/events.js';
import { sleep } from './bell.js';
import { BookMirror } from './book-mirror.js';
import type { FeedProgress } from './feed-progress.js';
import { isExtreme, movesTooMany } from './price-watch.js';
import type { BookChange, SeenBook, VenueProtocol } from './protocol.js';
import { isQuarantined, quarantined, type BodyReading } from './reading.js';

export interface BookFollowerPorts {
  readonly clock: Clock;
  readonly protocol: VenueProtocol;
  readonly progress: FeedProgress;
  readonly isSocketOpen: () => boolean;
  /** Called when the socket is open but does not send what the venue shows. */
  readonly onSilence: () => void;
}

const PUBLISH_MILLIS = 50;
const CHECK_MILLIS = 1_000;
const MICROS = 1_000;
/** A book without news for this long is read, which also serves as its heartbeat. Readers call it stale after ten seconds. */
const SILENT_MICROS = 3_000 * MICROS;
const SILENT_EMPTY_MICROS = 7_000 * MICROS;
const NO_SOCKET_MICROS = 500 * MICROS;
const CROSSED_MICROS = 1_000 * MICROS;
/** In one round. */
const MOST_READS = 10;
/** How often in a row a book may differ from a read: frames may still be on their way. */
const MOST_DIFFERENCES = 2;

/** Follows the books of a venue's open markets: by its frames, and by reading those without news. */
export class BookFollower {
  private readonly mirror: BookMirror;
  private readonly open = new Set<string>();

  constructor(private readonly ports: BookFollowerPorts) {
    this.mirror = new BookMirror(ports.protocol.provider);
  }

  /** Starts to follow these markets. Returns those that are new. */
  follow(marketIds: readonly string[]): string[] {
    const fresh = marketIds.filter((id) => !this.open.has(id));
    for (const id of fresh) this.open.add(id);
    return fresh;
  }

  leave(marketIds: readonly string[]): void {
    for (const id of marketIds) {
      if (!this.open.delete(id)) continue;
      this.mirror.empty(id, this.ports.progress.now());
    }
  }

  get followed(): readonly string[] {
    return [...this.open];
  }

  replace(book: SeenBook): void {
    if (this.open.has(book.market_id)) this.mirror.replace(book, this.ports.progress.now());
  }

  /** Returns false if the change does not fit the known book, which must then be read again. */
  change(change: BookChange): boolean {
    return !this.open.has(change.market_id) || this.mirror.change(change, this.ports.progress.now());
  }

  async publish(stop: AbortSignal): Promise<void> {
    const { clock, progress } = this.ports;
    while (!stop.aborted) {
      const events = this.mirror.takeChanged(progress.now());
      if (events.length > 0) await progress.put(events);
      await sleep(clock, PUBLISH_MILLIS, stop);
    }
  }

  async check(stop: AbortSignal): Promise<void> {
    const { clock, progress, isSocketOpen, protocol } = this.ports;
    while (!stop.aborted) {
      const now = progress.now();
      const [quiet, empty] = isSocketOpen()
        ? [SILENT_MICROS, SILENT_EMPTY_MICROS]
        : [NO_SOCKET_MICROS, NO_SOCKET_MICROS];
      const due = [
        ...new Set([
          ...this.mirror.crossed(now - CROSSED_MICROS),
          ...this.mirror.silent(this.open, now - quiet, now - empty),
        ]),
      ];
      for (let read = 0; read < MOST_READS && due.length > 0; read += 1) {
        if (!(await this.read(due.splice(0, protocol.booksAtOnce), stop))) break;
      }
      await sleep(clock, CHECK_MILLIS, stop);
    }
  }

  /** Returns false if the body is not valid. */
  private async read(marketIds: readonly string[], stop: AbortSignal): Promise<boolean> {
    const { protocol, progress } = this.ports;
    const versions = this.mirror.versionsOf(marketIds);
    const books = plausible(await protocol.books(marketIds, stop));
    if (isQuarantined(books)) {
      await progress.outlet.put(books);
      return false;
    }
    const beats = books.value.flatMap((book) => this.compare(book, versions) ?? []);
    if (beats.length > 0) await progress.put(beats);
    return true;
  }

  private compare(book: SeenBook, versions: ReadonlyMap<string, number>): BookEvent | undefined {
    const { progress, isSocketOpen, onSilence } = this.ports;
    const compared = this.mirror.compare(book, versions, progress.now());
    if (compared.is === 'same') return compared.event;
    if (compared.is === 'overtaken') return undefined;
    const isSilent = isSocketOpen() && compared.times >= MOST_DIFFERENCES;
    if (isSilent) onSilence();
    if (isSilent || !isSocketOpen() || compared.times === 0) this.replace(book);
    return undefined;
  }
}

function plausible(books: BodyReading<readonly SeenBook[]>): BodyReading<readonly SeenBook[]> {
  if (isQuarantined(books)) return books;
  const levels = books.value.flatMap(({ bids, asks }) => [...bids, ...asks]);
  const extreme = levels.filter(({ price }) => isExtreme(price));
  return movesTooMany(extreme.length, levels.length)
    ? quarantined('books', 'too many prices move to 0 or 1', books.body)
    : books;
}
