import type { BookEvent, BookLevel } from '../../rules/events.js';
import type { Provider } from '../../rules/providers.js';
import type { BookChange, BookName, SeenBook } from './protocol.js';

interface Mirrored {
  readonly name: BookName;
  bids: Map<number, bigint>;
  asks: Map<number, bigint>;
  at: number;
  sequence: bigint;
  isChanged: boolean;
  /** A change did not fit, so the levels are unknown. */
  isBroken: boolean;
  /** When it was last changed or confirmed, by our clock. */
  checkedAt: number;
  /** Counts changes, to tell a comparison that was overtaken by frames from a real difference. */
  version: number;
  differences: number;
  crossedSince: number | undefined;
}

/** Keeps the books of a venue from its frames. A crossed book is withheld until it is no longer crossed. */
export class BookMirror {
  private readonly books = new Map<string, Mirrored>();

  constructor(private readonly provider: Provider) {}

  /** Returns false if `book` is older than the known state. */
  replace(book: SeenBook, now: number): boolean {
    const mirrored = this.bookOf(book);
    if (book.at !== undefined && book.at < mirrored.at) return false;
    mirrored.bids = levelsOf(book.bids);
    mirrored.asks = levelsOf(book.asks);
    mirrored.isBroken = false;
    mirrored.differences = 0;
    touch(mirrored, book.at ?? now, now);
    return true;
  }

  /** Returns false if the change does not fit the known book. */
  change(change: BookChange, now: number): boolean {
    const mirrored = this.books.get(nameOf(change));
    if (mirrored === undefined || mirrored.isBroken) return false;
    const levels = mirrored[change.side];
    const size = (levels.get(change.price) ?? 0n) + change.delta;
    if (size > 0n) levels.set(change.price, size);
    else levels.delete(change.price);
    touch(mirrored, change.at ?? now, now);
    mirrored.isBroken = size < 0n;
    return !mirrored.isBroken;
  }

  /** Whole books that changed and are not crossed. */
  takeChanged(now: number): BookEvent[] {
    const events: BookEvent[] = [];
    for (const book of this.books.values()) {
      if (!book.isChanged || book.isBroken) continue;
      book.crossedSince = isCrossed(book) ? (book.crossedSince ?? now) : undefined;
      if (book.crossedSince !== undefined) continue;
      book.isChanged = false;
      events.push(this.eventOf(book, now, true));
    }
    return events;
  }

  /** The followed markets without news since `since`, or since `sinceEmpty` if all their books are empty; longest first. */
  silent(marketIds: ReadonlySet<string>, since: number, sinceEmpty = since): string[] {
    const oldest = new Map<string, number>();
    for (const id of marketIds) oldest.set(id, 0);
    const full = new Set<string>();
    for (const { name, checkedAt, isBroken, bids, asks } of this.books.values()) {
      const known = oldest.get(name.market_id);
      if (known === undefined) continue;
      if (bids.size + asks.size > 0) full.add(name.market_id);
      const at = isBroken ? 0 : checkedAt;
      oldest.set(name.market_id, known === 0 ? at : Math.min(known, at));
    }
    return [...oldest]
      .filter(([id, at]) => at <= (full.has(id) ? since : sinceEmpty))
      .sort(([, left], [, right]) => left - right)
      .map(([id]) => id);
  }

  /** The markets with a book that has been crossed since then. */
  crossed(since: number): string[] {
    const found = [...this.books.values()].filter(({ crossedSince: at }) => at !== undefined && at <= since);
    return [...new Set(found.map(({ name }) => name.market_id))];
  }

  versionsOf(marketIds: readonly string[]): ReadonlyMap<string, number> {
    const wanted = new Set(marketIds);
    return new Map(
      [...this.books].flatMap(([name, { name: of, version }]) =>
        wanted.has(of.market_id) ? [[name, version] as const] : [],
      ),
    );
  }

  /**
   * Compares a book that was read separately. `same` carries the event that confirms it; `other` tells how often in a row it
   * differed; `overtaken` means that frames have changed the book meanwhile.
   */
  compare(
    book: SeenBook,
    versions: ReadonlyMap<string, number>,
    now: number,
  ):
    | { readonly is: 'same'; readonly event: BookEvent }
    | { readonly is: 'other' | 'overtaken'; readonly times: number } {
    const name = nameOf(book);
    const mirrored = this.books.get(name);
    if (mirrored === undefined || mirrored.isBroken) return { is: 'other', times: 0 };
    if (mirrored.version !== (versions.get(name) ?? 0)) return { is: 'overtaken', times: 0 };
    const isSame = areSame(mirrored.bids, book.bids) && areSame(mirrored.asks, book.asks);
    if (!isSame || mirrored.isChanged) {
      mirrored.differences += isSame ? 0 : 1;
      return { is: isSame ? 'overtaken' : 'other', times: mirrored.differences };
    }
    mirrored.differences = 0;
    mirrored.checkedAt = now;
    mirrored.at = Math.max(mirrored.at, book.at ?? now);
    return { is: 'same', event: this.eventOf(mirrored, now, false) };
  }

  /** Empties the books of a market that no longer trades. */
  empty(marketId: string, now: number): void {
    for (const book of this.books.values()) {
      if (book.name.market_id !== marketId) continue;
      book.bids = new Map();
      book.asks = new Map();
      book.isBroken = false;
      touch(book, now, now);
    }
  }

  private bookOf({ market_id, outcome_index }: BookName): Mirrored {
    const name = nameOf({ market_id, outcome_index });
    const known = this.books.get(name);
    if (known !== undefined) return known;
    const made: Mirrored = {
      ...{ name: { market_id, outcome_index }, bids: new Map(), asks: new Map(), at: 0, sequence: 0n },
      ...{ isChanged: false, isBroken: false, checkedAt: 0, version: 0, differences: 0 },
      crossedSince: undefined,
    };
    this.books.set(name, made);
    return made;
  }

  /** The venue numbers frames, not books, so these sequence numbers are ours. */
  private eventOf(book: Mirrored, received_at: number, snapshot: boolean): BookEvent {
    book.sequence += 1n;
    const { name, sequence, at: source_ts } = book;
    const source_id = `${name.market_id}/${String(name.outcome_index)}/${String(sequence)}`;
    return {
      ...{
        type: 'BOOK',
        provider: this.provider,
        ...name,
        source_id,
        source_ts,
        received_at,
        sequence,
        snapshot,
      },
      bids: snapshot ? bestFirst(book.bids, -1) : [],
      asks: snapshot ? bestFirst(book.asks, 1) : [],
    };
  }
}

function nameOf({ market_id, outcome_index }: BookName): string {
  return `${String(outcome_index)}:${market_id}`;
}

function touch(book: Mirrored, at: number, now: number): void {
  book.at = Math.max(book.at, at);
  book.checkedAt = now;
  book.version += 1;
  book.isChanged = true;
}

function levelsOf(levels: readonly BookLevel[]): Map<number, bigint> {
  return new Map(levels.filter(({ size }) => size > 0n).map(({ price, size }) => [price, size]));
}

function bestFirst(levels: ReadonlyMap<number, bigint>, direction: 1 | -1): BookLevel[] {
  return [...levels]
    .map(([price, size]) => ({ price, size }))
    .sort((left, right) => direction * (left.price - right.price));
}

function isCrossed({ bids, asks }: Mirrored): boolean {
  let [bid, ask] = [-Infinity, Infinity];
  for (const price of bids.keys()) bid = Math.max(bid, price);
  for (const price of asks.keys()) ask = Math.min(ask, price);
  return bid >= ask;
}

function areSame(levels: ReadonlyMap<number, bigint>, others: readonly BookLevel[]): boolean {
  const theirs = levelsOf(others);
  return theirs.size === levels.size && [...theirs].every(([price, size]) => levels.get(price) === size);
}
