import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { decodeEvent, isOfAuction } from '../rules/event-versions.js';
import { HistoryTable } from '../shard/histories/history-table.js';
import type { JournalEntry } from '#libs/journal/journal.js';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { lawfulSession } from '#libs/testing/auctions/journaled-auctions.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { HistoryProof } from './histories.js';

const SHARD = 0;
const PAGE = 40;
/** Not to the end, so that some auctions are still open. */
const entries: readonly JournalEntry[] = lawfulSession(7, 30).records.slice(0, 120);
const STRANGE = '0a000000-0000-8000-8000-000000000000';
let database: TestDatabase;
let table: HistoryTable;

/** Positions by auction, of auctions that are over and of those that are not. */
const over = new Map<string, number[]>();
const open = new Map<string, number[]>();

beforeAll(async () => {
  database = await createTestDatabase(allMigrations);
  table = new HistoryTable(database.pool, SHARD);
  for (const { kind, payload, sequence } of entries) {
    const event = kind === 'event' ? decodeEvent(payload) : undefined;
    if (event === undefined || !isOfAuction(event)) continue;
    const positions = [...(open.get(event.auction_id) ?? []), sequence];
    open.set(event.auction_id, positions);
    if (event.type !== 'AUCTION_COMPLETED') continue;
    over.set(event.auction_id, positions);
    open.delete(event.auction_id);
  }
  await put(over);
});
afterEach(async () => {
  await database.pool.query('truncate journal.histories');
  await put(over);
});
afterAll(() => database.drop());

async function put(histories: Iterable<readonly [string, readonly number[]]>): Promise<void> {
  await table.keep([...histories].map(([auctionId, positions]) => ({ auctionId, positions })));
}

async function proven() {
  const proof = new HistoryProof(SHARD, database.pool);
  for (let from = 0; from < entries.length; from += PAGE) {
    proof.take(entries.slice(from, from + PAGE));
    await proof.look();
  }
  return proof.end(entries.at(-1)?.sequence ?? 0);
}

it('finds no fault if every history matches the journal, and needs none for auctions that are not evicted', async () => {
  expect(over.size).toBeGreaterThan(3);
  expect(await proven()).toEqual({ kept: over.size, wrong: [], unknown: 0 });
  await database.pool.query('truncate journal.histories');
  expect(await proven()).toEqual({ kept: 0, wrong: [], unknown: 0 });
});

it('reports histories that differ', async () => {
  const [[first, positions] = ['', []], [second, others] = ['', []]] = [...over];
  await database.pool.query('truncate journal.histories');
  await put([
    [first, positions.slice(1)],
    [second, [...others.slice(0, -1), 1]],
  ]);
  const { wrong } = await proven();
  expect(wrong.toSorted()).toEqual([first, second].toSorted());
});

it('counts histories of auctions that are not over or are unknown', async () => {
  await put([...[...open].slice(0, 1), [STRANGE, [2, 3]]]);
  expect(open.size).toBeGreaterThan(0);
  expect(await proven()).toEqual({ kept: over.size + 2, wrong: [], unknown: 2 });
});

it('ignores auctions that ended after the records that were read', async () => {
  await put([[STRANGE, [entries.length, entries.length + 5]]]);
  expect(await proven()).toEqual({ kept: over.size, wrong: [], unknown: 0 });
});
