import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { bookAfter, isFresh, liquidityOf, midPrice, mirroredBook, type BookState } from './books.js';
import type { BookEvent, BookLevel } from './events.js';

const NOW = 1_795_176_000_000_000;
const CENT = 10_000;

const anyLevel = (from: number, to: number): fc.Arbitrary<BookLevel> =>
  fc.record({
    price: fc.integer({ min: from, max: to }).map((cents) => cents * CENT),
    size: fc.bigInt({ min: 0n, max: 3n }).map((size) => size * 1_000_000n),
  });
/** Both sides overlap a little, so that a book sometimes crosses. */
const anyEvent = fc
  .record({
    step: fc.constantFrom(1, 1, 1, 1, 1, 0, -1, 2),
    snapshot: fc.constantFrom(false, false, false, false, true),
    bids: fc.array(anyLevel(40, 51), { maxLength: 3 }),
    asks: fc.array(anyLevel(50, 60), { maxLength: 3 }),
    after: fc.integer({ min: -2, max: 5 }),
  })
  .map(({ step, after, ...event }) => ({ step, after, event }));

function bookEvent(event: Partial<BookEvent>): BookEvent {
  return {
    ...{
      type: 'BOOK',
      provider: 'venue_a',
      market_id: 'm',
      source_id: 'b',
      source_ts: NOW,
      received_at: NOW,
    },
    ...{ outcome_index: 0, sequence: 1n, snapshot: true, bids: [], asks: [] },
    ...event,
  };
}

/** A reference with one slot for each cent and side. A book is crossed if a bid is at or above an offer. */
class SlottedBook {
  private sides: Record<'bids' | 'asks', bigint[]> | undefined;
  private last: bigint | undefined;

  apply({ sequence, snapshot, bids, asks }: BookEvent): void {
    if (snapshot) this.sides = { bids: Array<bigint>(101).fill(0n), asks: Array<bigint>(101).fill(0n) };
    else if (this.sides === undefined || this.last === undefined || sequence <= this.last) return;
    else if (sequence !== this.last + 1n) this.sides = undefined;
    if (this.sides === undefined) return;
    this.last = sequence;
    for (const { price, size } of bids) this.sides.bids[price / CENT] = size;
    for (const { price, size } of asks) this.sides.asks[price / CENT] = size;
    for (let bid = 0; bid <= 100; bid += 1) {
      for (let ask = 0; ask <= bid; ask += 1) {
        if (this.sides === undefined) return;
        if (this.sides.bids[bid]! > 0n && this.sides.asks[ask]! > 0n) this.sides = undefined;
      }
    }
  }

  get shown(): object {
    const side = (name: 'bids' | 'asks'): object[] =>
      (this.sides?.[name] ?? []).flatMap((size, cent) => (size > 0n ? [{ price: cent * CENT, size }] : []));
    return { isDropped: this.sides === undefined, bids: side('bids').reverse(), asks: side('asks') };
  }
}

function shown(book: BookState | undefined): object {
  const { isDropped = true, bids = [], asks = [] } = book ?? {};
  return { isDropped, bids, asks };
}

describe('a book', () => {
  it('is the result of its snapshots and changes, in any sequence', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 30 }), (steps) => {
        const oracle = new SlottedBook();
        let book: BookState | undefined;
        let sequence = 10n;
        for (const { step, event } of steps) {
          sequence += BigInt(step);
          const numbered = bookEvent({ ...event, sequence });
          book = bookAfter(book, numbered);
          oracle.apply(numbered);
          expect(shown(book)).toEqual(oracle.shown);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('that was crossed for a few messages is withheld until the next full snapshot', () => {
    const [bids, asks] = [[{ price: 400_000, size: 1n }], [{ price: 420_000, size: 1n }]];
    const first = bookAfter(undefined, bookEvent({ bids, asks }));
    const over = [{ price: 420_000, size: 5n }];
    const crossed = bookAfter(first, bookEvent({ snapshot: false, sequence: 2n, bids: over }));
    expect(crossed).toMatchObject({ isDropped: true, bids: [], asks: [] });
    const gone = [{ price: 420_000, size: 0n }];
    const later = bookAfter(crossed, bookEvent({ snapshot: false, sequence: 3n, bids: gone }));
    expect(later).toMatchObject({ isDropped: true });
    expect(bookAfter(later, bookEvent({ sequence: 4n, bids, asks }))).toMatchObject({
      isDropped: false,
      bids,
      asks,
    });
  });

  it('does not exist without a snapshot', () => {
    expect(bookAfter(undefined, bookEvent({ snapshot: false }))).toBeUndefined();
  });

  it('stays fresh with heartbeats: events without levels and with the next sequence', () => {
    const bids = [{ price: 400_000, size: 1n }];
    const first = bookAfter(undefined, bookEvent({ bids }));
    const beat = bookEvent({ snapshot: false, sequence: 2n, source_ts: NOW + 9_000_000 });
    const book = bookAfter(first, beat)!;
    expect(book).toEqual({ ...first, sequence: 2n, source_ts: NOW + 9_000_000 });
    const again = bookAfter(book, { ...beat, source_ts: NOW + 30_000_000 });
    expect(again).toBe(book);
  });

  it.each([
    [10_000_000, true],
    [10_000_001, false],
  ])('is fresh %d microseconds after its newest event: %s', (after, fresh) => {
    const book = bookAfter(undefined, bookEvent({}))!;
    expect(isFresh(book, NOW + after)).toBe(fresh);
    expect(isFresh({ ...book, isDropped: true }, NOW + after)).toBe(false);
  });

  it('that was dropped for a missing event comes back only with the next snapshot', () => {
    const asks = [{ price: 600_000, size: 1n }];
    let book = bookAfter(undefined, bookEvent({ asks }));
    book = bookAfter(book, bookEvent({ snapshot: false, sequence: 3n, asks }));
    expect(book).toMatchObject({ isDropped: true, asks: [] });
    book = bookAfter(book, bookEvent({ snapshot: false, sequence: 4n, asks }));
    expect(book).toMatchObject({ isDropped: true });
    book = bookAfter(book, bookEvent({ sequence: 2n, asks }));
    expect(book).toMatchObject({ isDropped: false, asks, sequence: 2n });
  });
});

const anySides = fc
  .record({
    bids: fc.array(anyLevel(20, 49), { maxLength: 4 }),
    asks: fc.array(anyLevel(50, 80), { maxLength: 4 }),
  })
  .map((sides) => bookAfter(undefined, bookEvent(sides))!);

describe('figures of a book', () => {
  it('the price is the middle of both sides, at most ten cents apart', () => {
    fc.assert(
      fc.property(anySides, fc.nat(3), (book, off) => {
        const [bid] = book.bids;
        const [ask] = book.asks.map(({ price }) => price + off);
        const sides = {
          bids: book.bids,
          asks: book.asks.map((level) => ({ ...level, price: level.price + off })),
        };
        const isPriced = bid !== undefined && ask !== undefined && ask - bid.price <= 100_000;
        const middle = isPriced ? (bid.price + ask) / 2 : undefined;
        expect(midPrice(sides)).toBe(middle === undefined ? undefined : Math.floor(middle + 0.5));
      }),
    );
  });

  it('liquidity is the cash within five cents of the middle on both sides, and null if one is empty', () => {
    fc.assert(
      fc.property(anySides, (book) => {
        const [bid] = book.bids;
        const [ask] = book.asks;
        if (bid === undefined || ask === undefined) {
          expect(liquidityOf(book)).toBeUndefined();
          return;
        }
        const middle = (bid.price + ask.price) / 2;
        let sum = 0;
        for (const { price, size } of [...book.bids, ...book.asks]) {
          if (price >= middle - 50_000 && price <= middle + 50_000) sum += (price * Number(size)) / 1_000_000;
        }
        expect(liquidityOf(book)).toBe(BigInt(sum));
      }),
    );
  });

  it('the book of the other outcome is 1 minus every price with exchanged sides; mirrored twice it is the same', () => {
    fc.assert(
      fc.property(anySides, (book) => {
        const mirror = mirroredBook(book);
        expect(mirroredBook(mirror)).toEqual(book);
        expect(mirror.bids.map(({ price }) => price)).toEqual(
          book.asks.map(({ price }) => 1_000_000 - price),
        );
        expect(mirror.bids.map(({ price }) => price)).toEqual(
          mirror.bids.map(({ price }) => price).sort((a, b) => b - a),
        );
      }),
    );
  });

  it('liquidity is rounded once, half up', () => {
    const level = { price: 500_000, size: 1n };
    const sides = { bids: [{ price: 499_999, size: 1n }], asks: [level] };
    expect(liquidityOf(sides)).toBe(1n);
    expect(liquidityOf({ bids: [{ price: 490_000, size: 1n }], asks: [{ price: 500_001, size: 0n }] })).toBe(
      0n,
    );
  });
});
