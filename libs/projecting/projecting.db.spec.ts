import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { JournalCorrupt } from '#libs/journal/journal-errors.js';
import type { JournalEntry, JournalWriter } from '#libs/journal/journal.js';
import { journalMigrations } from '#libs/journal/migrations/list.js';
import { PostgresJournal } from '#libs/journal/postgres/postgres-journal.js';
import { PostgresJournalReader } from '#libs/journal/postgres/postgres-reader.js';
import { RecordMacs } from '#libs/journal/seals/record-macs.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { eventually } from '#libs/testing/eventually.js';
import { tally, tallyMigrations, tallyPayload, tallyRecords } from '#libs/testing/projections/tally.js';
import { Follower } from './following/follower.js';
import { projectionLag } from './following/lag.js';
import { PositionGap, Projector, transactionsOf } from './projector.js';
import { compareProjection } from './rebuild/compare.js';
import { Rebuild } from './rebuild/rebuild.js';

jest.setTimeout(60_000);

const SHARD = 1;
const clock = new SystemClock();
const seals = new RecordMacs(tally.family, [Buffer.alloc(32, 1)]);
let database: TestDatabase;
let writer: JournalWriter;
let reader: PostgresJournalReader;

beforeAll(async () => {
  database = await createTestDatabase([...journalMigrations, ...tallyMigrations]);
  const { url, pool } = database;
  writer = await new PostgresJournal({
    family: tally.family,
    url,
    clock,
    opener: 'tally-writer',
    seals,
  }).open(SHARD);
  reader = new PostgresJournalReader(pool, tally.family);
});
afterAll(async () => {
  await writer.close();
  await database.drop();
});
beforeEach(() => database.pool.query('truncate tally.offsets, tally.counts'));

async function journal(...keys: string[]): Promise<void> {
  await writer.append(keys.map(tallyPayload));
}

async function records(from = 1): Promise<JournalEntry[]> {
  return reader.read(SHARD, from, 1_000);
}

async function counts(): Promise<Record<string, number>> {
  const { rows } = await database.pool.query<{ key: string; count: number }>(
    'select key, count from tally.counts order by key',
  );
  return Object.fromEntries(rows.map(({ key, count }) => [key, count]));
}

function projector(): Projector<number> {
  return new Projector(tally, { inTransaction: transactionsOf(database.pool), clock });
}

describe('a projection of a service of its own', () => {
  it('follows its journal', async () => {
    await journal('north', 'south', 'north');
    const { pool } = database;
    const faults: unknown[] = [];
    const follower = new Follower({
      pool,
      reader,
      projector: projector(),
      clock,
      shards: [SHARD],
      onFault: (_, error) => faults.push(error),
    });
    follower.start();
    await eventually(async () => expect(await counts()).toEqual({ north: 2, south: 1 }));
    await journal('south', 'west');
    await eventually(async () => expect(await counts()).toEqual({ north: 2, south: 2, west: 1 }));
    const { sequence: head } = writer.head;
    const caughtUp = { shard: SHARD, head, position: head, lag: 0 };
    expect(await projectionLag({ pool, reader, projection: tally })).toEqual([caughtUp]);
    await follower.stop();
    expect(faults).toEqual([]);
  });

  it('counts a redelivered record once, whatever its source', async () => {
    await journal('east', 'east');
    const all = await records();
    const one = projector();
    await one.take(SHARD, all);
    const once = await counts();
    await one.take(SHARD, all);
    await projector().take(SHARD, all.slice(0, 3));
    expect(await counts()).toEqual(once);
  });

  it('does not depend on how the records are cut into batches, nor on the cache', async () => {
    await journal('east', 'east', 'east', 'east');
    await projector().take(SHARD, await records());
    const whole = await counts();
    await database.pool.query('truncate tally.offsets, tally.counts');
    const two = [projector(), projector()];
    for (const [turn, record] of (await records()).entries()) await two[turn % 2]!.take(SHARD, [record]);
    expect(await counts()).toEqual(whole);
  });

  it('refuses a gap, and the records of another journal', async () => {
    const all = await records();
    const one = projector();
    await one.take(SHARD, all.slice(0, 2));
    await expect(one.take(SHARD, all.slice(3))).rejects.toThrow(PositionGap);
    await expect(one.take(SHARD, tallyRecords(SHARD, 9).slice(2))).rejects.toThrow(JournalCorrupt);
  });

  it('is compared with the journal, and rebuilt from it', async () => {
    const ports = { pool: database.pool, reader, clock };
    await projector().take(SHARD, await records());
    const sound = await counts();
    expect((await compareProjection(tally, ports)).map(({ differing }) => differing)).toEqual([0, 0]);

    await database.pool.query(`update tally.counts set count = 9 where key = 'north'`);
    await database.pool.query(`delete from tally.counts where key = 'south'`);
    const [, compared] = await compareProjection(tally, ports);
    expect(compared).toMatchObject({
      table: 'tally.counts',
      differences: [
        { key: ['1', 'north'], kind: 'different', columns: ['count'] },
        { key: ['1', 'south'], kind: 'missing', columns: [] },
      ],
    });

    await new Rebuild(tally, { ...ports, say: () => undefined }).run();
    expect(await counts()).toEqual(sound);
    await journal('north');
    await projector().take(SHARD, await records());
    expect(await counts()).toEqual({ ...sound, north: (sound.north ?? 0) + 1 });
  });
});
