import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Pool, PoolClient } from 'pg';
import type { JournalEntry } from '#libs/journal/journal.js';
import { JournalCorrupt } from '#libs/journal/journal-errors.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { withTransaction } from '#libs/platform/database/postgres.js';
import { randomSession } from '#libs/testing/auctions/journaled-auctions.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { projectionMigrations } from './migrations/list.js';
import type { FoldedAuction } from './folded-auction.js';
import { auctionProjection } from './projection.js';
import { PositionGap, Projector, transactionsOf, type InTransaction } from '#libs/projecting/projector.js';

const TABLES = {
  'completed.auctions': 'auction_id',
  'completed.viewers': 'viewer_id, opened_at, auction_id',
  'auction_history.events': 'auction_id, sequence',
  'auction_history.quotes': 'quote_id',
  'auction_history.answers': 'account_id, operation, key, shard',
  'auction_history.projection_offsets': 'shard',
};
jest.setTimeout(60_000);

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase(projectionMigrations);
});
afterAll(() => database.drop());
beforeEach(() => database.pool.query(`truncate ${Object.keys(TABLES).join(', ')}`));

async function rows(pool: Pool): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const [table, key] of Object.entries(TABLES)) {
    const result = await pool.query<{ row: string }>(`select t::text as row from ${table} t order by ${key}`);
    found[table] = result.rows.map(({ row }) => row);
  }
  return found;
}

function projector(inTransaction = transactionsOf(database.pool)): Projector<FoldedAuction> {
  return new Projector(auctionProjection, { inTransaction, clock: new SystemClock() });
}

/** Batches of uneven sizes. */
function cut(records: readonly JournalEntry[], sizes: readonly number[]): JournalEntry[][] {
  const batches: JournalEntry[][] = [];
  let at = 0;
  for (let turn = 0; at < records.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    batches.push(records.slice(at, at + size));
    at += size;
  }
  return batches;
}

describe('the projection of a journal', () => {
  const { records, shard } = randomSession(7, 30);

  it('does not depend on how the entries are cut into batches, nor on what is cached between them', async () => {
    await projector().take(shard, records);
    const whole = await rows(database.pool);
    expect(whole['completed.auctions']!.length).toBeGreaterThan(10);
    expect(whole['completed.viewers']!.length).toBeGreaterThan(30);
    expect(whole['auction_history.quotes']!.length).toBeGreaterThan(30);

    for (const sizes of [[1], [3, 1, 17, 2], [40]]) {
      await database.pool.query(`truncate ${Object.keys(TABLES).join(', ')}`);
      const remembering = projector();
      for (const batch of cut(records, sizes)) await remembering.take(shard, batch);
      expect(await rows(database.pool)).toEqual(whole);

      await database.pool.query(`truncate ${Object.keys(TABLES).join(', ')}`);
      for (const batch of cut(records, sizes)) await projector().take(shard, batch);
      expect(await rows(database.pool)).toEqual(whole);
    }
  });

  it('is the same after every entry was delivered twice', async () => {
    const batches = cut(records, [25, 2, 41]);
    const one = projector();
    for (const batch of batches) {
      await one.take(shard, batch);
      const once = await rows(database.pool);
      await one.take(shard, batch);
      await one.take(shard, records.slice(0, batch.at(-1)!.sequence));
      expect(await rows(database.pool)).toEqual(once);
    }
  });

  it('is written completely or not at all, wherever its transaction breaks', async () => {
    const one = projector();
    await one.take(shard, records.slice(0, 100));
    const before = await rows(database.pool);
    const batch = records.slice(100, 200);
    const statements = await countStatements(batch);
    // Position, histories, events, quotes, auctions, viewers, answers, position.
    expect(statements).toBe(8);
    for (let at = 1; at <= statements; at += 1) {
      const broken: InTransaction = (work) =>
        withTransaction(database.pool, 'read committed', (client) => work(breaking(client, at)));
      await expect(projector(broken).take(shard, batch)).rejects.toThrow('broken off');
      expect(await rows(database.pool)).toEqual(before);
    }
    await one.take(shard, batch);
    const after = await rows(database.pool);
    await database.pool.query(`truncate ${Object.keys(TABLES).join(', ')}`);
    await projector().take(shard, records.slice(0, 200));
    expect(await rows(database.pool)).toEqual(after);
  });

  it('is written once by two projectors at the same time', async () => {
    await projector().take(shard, records);
    const alone = await rows(database.pool);
    await database.pool.query(`truncate ${Object.keys(TABLES).join(', ')}`);
    const [one, other] = [projector(), projector()];
    for (const batch of cut(records, [4, 9, 1]))
      await Promise.all([one.take(shard, batch), other.take(shard, batch)]);
    expect(await rows(database.pool)).toEqual(alone);
  });

  it('uses its cache only if no other projector has continued since', async () => {
    await projector().take(shard, records);
    const alone = await rows(database.pool);
    await database.pool.query(`truncate ${Object.keys(TABLES).join(', ')}`);
    const two = [projector(), projector()];
    for (const [turn, batch] of cut(records, [6, 11]).entries()) await two[turn % 2]!.take(shard, batch);
    expect(await rows(database.pool)).toEqual(alone);
  });

  it('refuses gaps, and entries of another journal', async () => {
    const one = projector();
    await one.take(shard, records.slice(0, 10));
    await expect(one.take(shard, records.slice(11, 20))).rejects.toThrow(PositionGap);
    const other = randomSession(8, 30).records;
    await expect(one.take(shard, other.slice(10, 20))).rejects.toThrow(JournalCorrupt);
    expect((await rows(database.pool))['auction_history.projection_offsets']).toHaveLength(1);
  });

  async function countStatements(batch: readonly JournalEntry[]): Promise<number> {
    let count = 0;
    const counting: InTransaction = async (work) => {
      const client = await database.pool.connect();
      try {
        await client.query('begin');
        const counted = intercepted(client, () => {
          count += 1;
        });
        return await work(counted);
      } finally {
        await client.query('rollback');
        client.release();
      }
    };
    await projector(counting).take(shard, batch);
    return count;
  }
});

/** Fails after its nth statement, whose effects are already in the transaction. */
function breaking(client: PoolClient, at: number): PoolClient {
  let count = 0;
  return intercepted(client, () => {
    count += 1;
    if (count === at) throw new Error('broken off');
  });
}

function intercepted(client: PoolClient, after: () => void): PoolClient {
  return new Proxy(client, {
    get(target, name): unknown {
      const value: unknown = Reflect.get(target, name);
      if (name !== 'query' || typeof value !== 'function') return value;
      return async (...args: unknown[]): Promise<unknown> => {
        const result: unknown = await Reflect.apply(value, target, args);
        after();
        return result;
      };
    },
  });
}
