import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { eventually } from '#libs/testing/eventually.js';
import type { BookEvent } from '../rules/events.js';
import { BookTable, type StoredBook } from '../store/book-table.js';
import { BookKeeper } from './book-keeper.js';
import { clock, IngestWorld } from '#libs/testing/data/ingest-world.js';
import { START } from '#libs/testing/data/streams.js';

jest.setTimeout(60_000);

let world: IngestWorld;

beforeAll(async () => {
  world = await IngestWorld.make();
});
afterAll(() => world.end());
afterEach(() => world.empty());

function keeper(): BookKeeper {
  const onFault = (error: unknown): void => void world.faults.push(error);
  return new BookKeeper('venue_a', new BookTable(world.database.pool), { clock, onFault });
}

async function stored(): Promise<StoredBook[]> {
  return new BookTable(world.database.pool).find('venue_a', ['m']);
}

function change(sequence: bigint, size: bigint, over: Partial<BookEvent> = {}): BookEvent {
  return {
    ...{ type: 'BOOK', provider: 'venue_a', market_id: 'm', outcome_index: 0, source_id: `b${sequence}` },
    ...{ source_ts: START + Number(sequence), received_at: START, sequence, snapshot: false },
    ...{ bids: [{ price: 400_000, size }], asks: [] },
    ...over,
  };
}

const levels = (size: bigint): object => ({ book: { isDropped: false, bids: [{ price: 400_000, size }] } });

it('stores only the newest state, also for markets that are not listed', async () => {
  const books = keeper();
  await books.take([change(1n, 5n, { snapshot: true }), change(2n, 6n)]);
  await books.take([change(3n, 2n ** 60n)]);
  expect(await stored()).toEqual([]);
  await eventually(async () => expect(await stored()).toMatchObject([levels(2n ** 60n)]));
  expect(world.faults).toEqual([]);
});

it('continues from what another process stored, and drops a book with missing events', async () => {
  const first = keeper();
  await first.take([change(1n, 5n, { snapshot: true })]);
  await first.flush();
  const second = keeper();
  await second.take([change(2n, 7n)]);
  await second.flush();
  expect(await stored()).toMatchObject([levels(7n)]);
  await second.take([change(9n, 1n)]);
  await second.flush();
  expect(await stored()).toMatchObject([{ book: { isDropped: true, bids: [] } }]);
});

it('a snapshot that is read again does not bring an old book back', async () => {
  const books = keeper();
  const snapshot = change(1n, 5n, { snapshot: true });
  await books.take([snapshot, change(2n, 6n), snapshot]);
  await books.flush();
  expect(await stored()).toMatchObject([levels(6n)]);
});

it('while paused nothing is stored; after that the newest state is', async () => {
  const books = keeper();
  books.pause(true);
  await books.take([change(1n, 5n, { snapshot: true })]);
  await books.flush();
  expect(await stored()).toEqual([]);
  books.pause(false);
  await eventually(async () => expect(await stored()).toMatchObject([levels(5n)]));
});

it('reports how many batches are stored, however fast other books change', async () => {
  const books = keeper();
  expect([books.batches, books.storedBatches]).toEqual([0, 0]);
  await books.take([change(1n, 5n, { snapshot: true })]);
  const taken = books.batches;
  expect([taken, books.storedBatches]).toEqual([1, 0]);
  let sequence = 1n;
  await eventually(async () => {
    // There is always a change that is not stored yet.
    sequence += 1n;
    await books.take([change(sequence, sequence)]);
    expect(books.storedBatches).toBeGreaterThanOrEqual(taken);
  });
  expect(books.storedBatches).toBeLessThan(books.batches);
  await books.flush();
  expect(books.storedBatches).toBe(books.batches);
  await books.take([change(1n, 5n)]);
  expect(books.storedBatches).toBe(books.batches);
});
