import { describe, expect, it } from '@jest/globals';
import { randomOf } from '#libs/testing/data/streams.js';
import { bookAfter, type BookState } from '../../rules/books.js';
import type { BookEvent } from '../../rules/events.js';
import { BookMirror } from './book-mirror.js';

const NAME = { market_id: 'm', outcome_index: 0 };
const level = (price: number, size: bigint): { price: number; size: bigint } => ({ price, size });

function after(book: BookState | undefined, events: readonly BookEvent[]): BookState | undefined {
  return events.reduce<BookState | undefined>((state, event) => bookAfter(state, event), book);
}

describe('a mirrored book', () => {
  it.each([1, 2, 3, 4, 5])(
    'equals a simple reference list of levels, and is never crossed (seed %d)',
    (seed) => {
      const random = randomOf(seed);
      const mirror = new BookMirror('venue_b');
      const slow = { bids: new Map<number, bigint>(), asks: new Map<number, bigint>() };
      mirror.replace({ ...NAME, bids: [], asks: [] }, 0);
      let book: BookState | undefined;
      let compared = 0;
      for (let step = 1; step < 3_000; step += 1) {
        const side = random(2) === 0 ? 'bids' : 'asks';
        const price = (side === 'bids' ? 1 + random(51) : 50 + random(50)) * 10_000;
        const size = slow[side].get(price) ?? 0n;
        const delta = random(2) === 0 ? -size : BigInt(1 + random(9));
        if (size + delta === 0n) slow[side].delete(price);
        else slow[side].set(price, size + delta);
        expect(mirror.change({ ...NAME, side, price, delta }, step)).toBe(true);
        if (random(4) !== 0) continue;
        book = after(book, mirror.takeChanged(step));
        expect(book?.isDropped).not.toBe(true);
        const best = [Math.max(...slow.bids.keys()), Math.min(...slow.asks.keys())] as const;
        if (best[0] >= best[1]) continue;
        compared += 1;
        expect(book?.bids).toEqual([...slow.bids].sort(([a], [b]) => b - a).map((each) => level(...each)));
        expect(book?.asks).toEqual([...slow.asks].sort(([a], [b]) => a - b).map((each) => level(...each)));
      }
      expect(compared).toBeGreaterThan(20);
    },
  );

  it('withholds a book that is crossed for a few messages, and shows its state after that (poly-websockets 25)', () => {
    const mirror = new BookMirror('venue_b');
    mirror.replace({ ...NAME, bids: [level(400_000, 5n)], asks: [level(500_000, 5n)] }, 1);
    const first = after(undefined, mirror.takeChanged(1));
    mirror.change({ ...NAME, side: 'bids', price: 500_000, delta: 3n }, 2);
    expect(mirror.takeChanged(2)).toEqual([]);
    expect(mirror.crossed(1)).toEqual([]);
    expect(mirror.takeChanged(3)).toEqual([]);
    expect(mirror.crossed(2)).toEqual(['m']);
    mirror.change({ ...NAME, side: 'asks', price: 500_000, delta: -5n }, 4);
    const next = after(first, mirror.takeChanged(4));
    expect(next).toMatchObject({
      isDropped: false,
      asks: [],
      bids: [level(500_000, 3n), level(400_000, 5n)],
    });
    expect(mirror.crossed(4)).toEqual([]);
  });

  it('is unknown after a change that does not fit', () => {
    const mirror = new BookMirror('venue_b');
    expect(mirror.change({ ...NAME, side: 'bids', price: 1, delta: 1n }, 1)).toBe(false);
    mirror.replace({ ...NAME, bids: [level(400_000, 5n)], asks: [] }, 1);
    expect(mirror.change({ ...NAME, side: 'bids', price: 400_000, delta: -6n }, 2)).toBe(false);
    expect(mirror.takeChanged(2)).toEqual([]);
    expect(mirror.silent(new Set(['m']), 1)).toEqual(['m']);
    mirror.replace({ ...NAME, bids: [level(300_000, 1n)], asks: [] }, 3);
    expect(mirror.takeChanged(3)).toMatchObject([{ snapshot: true, bids: [level(300_000, 1n)] }]);
  });

  it('is read less often while it is empty', () => {
    const mirror = new BookMirror('venue_b');
    const asks = [level(500_000, 1n)];
    mirror.replace({ ...NAME, bids: [], asks: [] }, 5);
    mirror.replace({ ...NAME, market_id: 'n', bids: [], asks: [] }, 5);
    mirror.replace({ market_id: 'n', outcome_index: 1, bids: [], asks }, 5);
    const followed = new Set(['m', 'n', 'new']);
    expect(mirror.silent(followed, 5, 4)).toEqual(['new', 'n']);
    expect(mirror.silent(followed, 5, 5)).toEqual(['new', 'm', 'n']);
    expect(mirror.silent(new Set(['n']), 4, 4)).toEqual([]);
  });

  it('does not go back to an older state', () => {
    const mirror = new BookMirror('venue_e');
    mirror.replace({ ...NAME, at: 5, bids: [level(400_000, 5n)], asks: [] }, 6);
    expect(mirror.replace({ ...NAME, at: 4, bids: [], asks: [] }, 7)).toBe(false);
    expect(mirror.takeChanged(7)).toMatchObject([{ bids: [level(400_000, 5n)], source_ts: 5 }]);
  });

  it('a comparison reports same, other with its count, or overtaken', () => {
    const mirror = new BookMirror('venue_b');
    const book = { ...NAME, bids: [level(400_000, 5n)], asks: [] };
    mirror.replace(book, 1);
    mirror.takeChanged(1);
    const versions = mirror.versionsOf(['m']);
    expect(mirror.compare(book, versions, 2)).toMatchObject({
      is: 'same',
      event: { snapshot: false, sequence: 2n },
    });
    const other = { ...book, bids: [] };
    expect(mirror.compare(other, versions, 3)).toEqual({ is: 'other', times: 1 });
    expect(mirror.compare(other, versions, 4)).toEqual({ is: 'other', times: 2 });
    mirror.change({ ...NAME, side: 'bids', price: 400_000, delta: 1n }, 5);
    expect(mirror.compare(other, versions, 6)).toMatchObject({ is: 'overtaken' });
  });
});
