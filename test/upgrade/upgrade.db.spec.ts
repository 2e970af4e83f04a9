import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { readManifest } from '#apps/operations/backup/manifest.js';
import { backupToRestore, restoreBackup } from '#apps/operations/backup/restore-backup.js';
import { SHAPES } from '#libs/auction/event-shapes.js';
import { decodeEvent } from '#libs/auction/event-versions.js';
import { BEFORE_FIRST, recordHash } from '#libs/journal/hash-chain.js';
import { PostgresJournalReader } from '#libs/journal/postgres/postgres-reader.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { compareProjections } from '#libs/projections/rebuild/compare.js';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { statesAfter } from './journal-of-all.js';
import { releases, schemaText } from './releases.js';

jest.setTimeout(60_000);

const { version: current } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
/** The latest first. */
const RELEASED = readFileSync('CHANGELOG.md', 'utf8').matchAll(/^## (\d+\.\d+\.\d+) \(\d/gm);

it('there is something of every release to hold this one against', () => {
  const versions = [...RELEASED].map(([, version]) => version);
  expect(
    releases()
      .map(({ version }) => version)
      .toReversed(),
  ).toEqual(versions);
  expect(versions[0]).toBe(current);
});

describe.each(releases())('data of release $version', ({ backup, schema, journal, states }) => {
  let database: TestDatabase;
  let before: TestDatabase;

  beforeAll(async () => {
    const { migrations } = await readManifest(backup);
    before = await createTestDatabase(allMigrations.filter(({ name }) => migrations.includes(name)));
    database = await createTestDatabase();
    await restoreBackup(database.url, await backupToRestore(backup), () => undefined);
  });
  afterAll(async () => {
    await database.drop();
    await before.drop();
  });

  it('lies in tables that its migrations still make: what has run somewhere is never edited', async () => {
    expect(await schemaText(before.pool)).toBe(schema);
  });

  it('is in today’s tables once it is restored', async () => {
    const fresh = await createTestDatabase(allMigrations);
    expect(await schemaText(database.pool)).toBe(await schemaText(fresh.pool));
    await fresh.drop();
  });

  it('gives the same projections, byte for byte, when they are made again today', async () => {
    const reader = new PostgresJournalReader(database.pool);
    const tables = await compareProjections({ pool: database.pool, reader, clock: new SystemClock() });
    expect(tables.filter(({ rows }) => rows > 0).length).toBeGreaterThan(3);
    expect(tables.filter(({ differing }) => differing > 0)).toEqual([]);
  });

  it('has a journal with a record of every type of event, each of which is read, and a chain that is whole', () => {
    const types = new Set<string>();
    let previousHash = BEFORE_FIRST.hash;
    for (const { shard, sequence, epoch, kind, payload, hash } of journal) {
      expect(recordHash({ shard, sequence, epoch, kind, payload, previousHash })).toBe(hash);
      previousHash = hash;
      if (kind === 'event') types.add(decodeEvent(payload).type);
    }
    // Types that came later are of later releases.
    expect([...types].sort()).toEqual(
      Object.keys(SHAPES)
        .filter((type) => types.has(type))
        .sort(),
    );
    expect(types.size).toBeGreaterThanOrEqual(20);
  });

  it('leads to the same states', () => {
    const today = statesAfter(journal);
    expect(Object.keys(today).sort()).toEqual(Object.keys(states).sort());
    for (const [id, state] of Object.entries(states)) {
      // What a later release keeps beside it is its own affair.
      expect(JSON.parse(JSON.stringify(today[id]))).toMatchObject(state as object);
    }
  });
});

it('the current release knows no type of event that its own journal lacks', () => {
  const release = releases().find(({ version }) => version === current);
  const types = new Set<string>(
    (release?.journal ?? [])
      .filter(({ kind }) => kind === 'event')
      .map(({ payload }) => decodeEvent(payload).type),
  );
  expect(Object.keys(SHAPES).filter((type) => !types.has(type))).toEqual([]);
});
