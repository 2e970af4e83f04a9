import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { nanosFromInstant } from '#libs/base/instant.js';
import type { JournalReader } from '#libs/journal/journal.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { OPENED_AT } from '#libs/testing/auctions/story.js';
import { randomSession, type WrittenJournal } from '#libs/testing/auctions/journaled-auctions.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { deleteExpired } from '#libs/projecting/expiry.js';
import { qualified, tablesOf } from '#libs/projecting/projection.js';
import { Projector, transactionsOf } from '#libs/projecting/projector.js';
import { compareProjection } from '#libs/projecting/rebuild/compare.js';
import { Rebuild } from '#libs/projecting/rebuild/rebuild.js';
import type { FoldedAuction } from './folded-auction.js';
import { projectionMigrations } from './migrations/list.js';
import { auctionProjection } from './projection.js';

jest.setTimeout(60_000);

let database: TestDatabase;
/** The time of the test auctions, so that stored replies have not expired. */
const clock = {
  epochNanos: () => nanosFromInstant(OPENED_AT),
  monotonicNanos: () => 0n,
  after: (millis: number, action: () => void) => new SystemClock().after(millis, action),
};
const TABLES = tablesOf(auctionProjection).map((table) => qualified(table));

beforeAll(async () => {
  database = await createTestDatabase(projectionMigrations);
});
afterAll(() => database.drop());
beforeEach(() => database.pool.query(`truncate ${TABLES.join(', ')}`));

function projector(): Projector<FoldedAuction> {
  return new Projector(auctionProjection, { inTransaction: transactionsOf(database.pool), clock });
}

async function differing(reader: WrittenJournal, shard?: number): Promise<Record<string, unknown[]>> {
  const tables = await compareProjection(auctionProjection, { pool: database.pool, reader, clock }, shard);
  return Object.fromEntries(
    tables.filter((table) => table.differing > 0).map(({ table, differences }) => [table, [...differences]]),
  );
}

function rebuild(reader: JournalReader, shard?: number): Promise<void> {
  return new Rebuild(auctionProjection, { pool: database.pool, reader, clock, say: () => undefined }).run(
    shard,
  );
}

async function counts(): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const table of TABLES) {
    const { rows } = await database.pool.query<{ n: number }>(`select count(*) as n from ${table}`);
    found[table] = rows[0]!.n;
  }
  return found;
}

async function schemas(): Promise<string[]> {
  const { rows } = await database.pool.query<{ name: string }>(
    `select nspname as name from pg_namespace where nspname ~ '^(completed|auction_history)' order by 1`,
  );
  return rows.map(({ name }) => name);
}

async function definitions(): Promise<string[]> {
  const { rows } = await database.pool.query<{ text: string }>(
    `select indexdef as text from pg_indexes where schemaname in ('completed', 'auction_history')
     union all select table_schema || '.' || table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable
     from information_schema.columns where table_schema in ('completed', 'auction_history')
     union all select conrelid::regclass || ' ' || pg_get_constraintdef(oid) from pg_constraint
     where connamespace in ('completed'::regnamespace, 'auction_history'::regnamespace)
     order by 1`,
  );
  return rows.map(({ text }) => text);
}

describe('comparing the projections with the journal', () => {
  const journal = randomSession(11, 40);
  const half = journal.records.slice(0, 150);

  it.each([1, 2, 3, 4])(
    'finds no difference, in whatever batches the entries came (seed %i)',
    async (seed) => {
      const other = randomSession(seed, 40);
      const one = projector();
      for (let at = 0; at < other.records.length; at += 7) await one.take(0, other.records.slice(at, at + 7));
      expect(await differing(other)).toEqual({});
      expect(await schemas()).toEqual(['auction_history', 'completed']);
    },
  );

  it('compares with the journal up to the offset of the projections', async () => {
    await projector().take(0, half);
    expect(await differing(journal)).toEqual({});
  });

  it('reports rows that are missing, surplus or different', async () => {
    await projector().take(0, journal.records);
    const { pool } = database;
    const lost = await pool.query<{ id: string }>(
      'delete from auction_history.quotes where quote_id = (select min(quote_id::text)::uuid from auction_history.quotes) returning quote_id as id',
    );
    const changed = await pool.query<{ id: string }>(
      `update completed.auctions set state = state || ' ', events = events + 1
       where auction_id = (select min(auction_id::text)::uuid from completed.auctions) returning auction_id as id`,
    );
    await pool.query(
      `insert into auction_history.answers values (gen_random_uuid(), 5, 9e18, 0, 422, 'CREATE', 'made-up', '', '')`,
    );
    expect(await differing(journal)).toEqual({
      'auction_history.quotes': [{ key: [lost.rows[0]!.id], kind: 'missing', columns: [] }],
      'completed.auctions': [{ key: [changed.rows[0]!.id], kind: 'different', columns: ['events', 'state'] }],
      'auction_history.answers': [expect.objectContaining({ kind: 'surplus' })],
    });
    await rebuild(journal);
    expect(await differing(journal)).toEqual({});
  });

  it('ignores expired replies', async () => {
    await projector().take(0, journal.records);
    await database.pool.query(
      `insert into auction_history.answers values (gen_random_uuid(), 5, 1, 0, 422, 'CREATE', 'old', '', '')`,
    );
    expect(await differing(journal)).toEqual({});
  });
});

describe('rebuilding the projections', () => {
  const journal = randomSession(12, 40);

  it('produces the same rows in the same tables', async () => {
    await projector().take(0, journal.records);
    const before = { counts: await counts(), definitions: await definitions() };
    await rebuild(journal);
    expect({ counts: await counts(), definitions: await definitions() }).toEqual(before);
    expect(await differing(journal)).toEqual({});
    expect(await schemas()).toEqual(['auction_history', 'completed']);
  });

  it('cleans up after an interrupted rebuild', async () => {
    await database.pool.query(
      'create schema completed_rebuilt; create table completed_rebuilt.auctions (x int)',
    );
    await projector().take(0, journal.records);
    await rebuild(journal);
    expect(await schemas()).toEqual(['auction_history', 'completed']);
  });

  it.each([undefined, 0])('lets a projector continue meanwhile (shard %s)', async (shard) => {
    const one = projector();
    await one.take(0, journal.records.slice(0, 20));
    const over = new AbortController();
    const rebuilding = rebuild(journal, shard).finally(() => {
      over.abort();
    });
    let at = 20;
    while (!over.signal.aborted && at < journal.records.length - 10) {
      await one.take(0, journal.records.slice(at, at + 1));
      at += 1;
    }
    await rebuilding;
    await one.take(0, journal.records.slice(at));
    expect(await differing(journal)).toEqual({});
  });

  it.each([undefined, 0])('does not undo what was projected meanwhile (shard %s)', async (shard) => {
    const heads = (): Promise<Map<number, number>> => Promise.resolve(new Map([[0, 20]]));
    const grown = { heads, read: journal.read.bind(journal), entries: journal.entries.bind(journal) };
    await projector().take(0, journal.records.slice(0, 70));
    const before = await counts();
    await rebuild(grown, shard);
    expect(await counts()).toEqual(before);
    expect(await differing(journal)).toEqual({});
    const { rows } = await database.pool.query('select sequence from auction_history.projection_offsets');
    expect(rows).toEqual([{ sequence: 70 }]);
  });

  it('of one shard leaves the others alone', async () => {
    const other = randomSession(13, 10, 1);
    await projector().take(0, journal.records);
    await projector().take(1, other.records);
    await database.pool.query(`update auction_history.quotes set view = 'wrong'`);
    await database.pool.query(`delete from completed.viewers`);
    await database.pool.query(`update auction_history.answers set body = 'wrong'`);
    await rebuild(journal, 0);
    expect(await differing(journal, 0)).toEqual({});
    expect(Object.keys(await differing(other, 1))).toEqual([
      'completed.viewers',
      'auction_history.quotes',
      'auction_history.answers',
    ]);
    await rebuild(other, 1);
    expect(await differing(other, 1)).toEqual({});
  });
});

describe('expired replies', () => {
  it('are deleted in small batches, oldest first, and nothing else is deleted', async () => {
    await database.pool.query(
      `insert into auction_history.answers
       select gen_random_uuid(), n, n * 1000, 0, 422, 'CREATE', 'k' || n, '', '' from generate_series(1, 10) n`,
    );
    const prune = (): Promise<number> =>
      deleteExpired(database.pool, auctionProjection, { nowNanos: 7_000n, limit: 4 });
    expect(await prune()).toBe(4);
    expect(await keys()).toEqual(['k5', 'k6', 'k7', 'k8', 'k9', 'k10']);
    expect(await prune()).toBe(3);
    expect(await prune()).toBe(0);
    expect(await keys()).toEqual(['k8', 'k9', 'k10']);
  });

  async function keys(): Promise<string[]> {
    const { rows } = await database.pool.query<{ key: string }>(
      'select key from auction_history.answers order by sequence',
    );
    return rows.map(({ key }) => key);
  }
});
