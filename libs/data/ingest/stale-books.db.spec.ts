import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { IngestWorld } from '#libs/testing/data/ingest-world.js';
import { marketEvent, START } from '#libs/testing/data/streams.js';
import { BookTable } from '../store/book-table.js';
import { StaleBooks } from './stale-books.js';

const SECOND = 1_000_000;

let world: IngestWorld;

beforeAll(async () => {
  world = await IngestWorld.make();
});
afterAll(() => world.end());

it('books that stop while their markets trade are found once; books of closed markets and books that were never fresh are not', async () => {
  const { pool } = world.database;
  await world.ingestAll('venue_a', [
    [
      ...['stops', 'goes on', 'old'].map((id) => marketEvent('venue_a', id)),
      { ...marketEvent('venue_a', 'closed'), status: 'closed' },
    ],
  ]);
  const table = new BookTable(pool);
  const write = (market_id: string, source_ts: number): Promise<void> =>
    table.write('venue_a', [
      {
        ...{ market_id, outcome_index: 0 },
        book: { source_ts, sequence: BigInt(source_ts), isDropped: false, bids: [], asks: [] },
      },
    ]);
  const stale = new StaleBooks(pool, 'venue_a');
  for (const id of ['stops', 'goes on', 'closed']) await write(id, START);
  await write('old', START - 60 * SECOND);
  expect(await stale.look(START + SECOND)).toEqual([]);
  await write('goes on', START + 10 * SECOND);
  expect(await stale.look(START + 11 * SECOND)).toEqual(['stops']);
  expect(await stale.look(START + 12 * SECOND)).toEqual([]);
  await write('stops', START + 12 * SECOND);
  expect(await stale.look(START + 13 * SECOND)).toEqual([]);
  stale.forget();
  expect(await stale.look(START + 60 * SECOND)).toEqual([]);
});
