import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { readManifest } from '#apps/cli/backup/manifest.js';
import { backupToRestore, restoreBackup } from '#apps/cli/backup/restore-backup.js';
import { SHAPES } from '#libs/auction/rules/event-shapes.js';
import { decodeEvent } from '#libs/auction/rules/event-versions.js';
import { beforeFirst, recordHash } from '#libs/journal/hash-chain.js';
import { PostgresJournalReader } from '#libs/journal/postgres/postgres-reader.js';
import type { JournalEntry } from '#libs/journal/journal.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { auctionProjection } from '#libs/auction/projections/projection.js';
import { compareProjection } from '#libs/projecting/rebuild/compare.js';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { runTool } from '#libs/testing/cluster/tool-run.js';
import { dropWithRoles } from '#libs/testing/database/role-logins.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { journalOfAll, statesAfter } from '../upgrade/journal-of-all.js';
import { keepRelease } from '../upgrade/keep-release.js';
import { releases, schemaText, type KeptRelease } from '../upgrade/releases.js';
import { TradingFloor, type Trader } from './trading-floor.js';

jest.setTimeout(60_000);

/** The first release whose data must open in every later one. */
const FIRST = '0.3.0';

/** `KEEP_RELEASE=<name>` saves the data of a cluster of this code, for all later releases. */
const { KEEP_RELEASE: making } = process.env;

if (making === undefined) opened();
else it('saves the data of this release', () => keepRelease(making), 120_000);

function opened(): void {
  it('there is data of every release', () => {
    const released = readFileSync('CHANGELOG.md', 'utf8').matchAll(/^## (\d+\.\d+\.\d+) - \d/gm);
    const names = releases().map(({ name }) => name);
    expect(names.length).toBeGreaterThan(0);
    const since = [...released]
      .map(([, version = '']) => version)
      .filter((version) => version.localeCompare(FIRST, 'en', { numeric: true }) >= 0);
    expect(names).toEqual(expect.arrayContaining(since));
  });

  it('the saved data of the next release has an event of every type', () => {
    expect(typesIn(journalOfAll())).toEqual(Object.keys(SHAPES).sort());
  });

  for (const release of releases())
    describe(`data of ${release.name}`, () => {
      describe('its journal with all event types', () => isRead(release));
      describe('with the present code', () => isOpened(release));
    });
}

function typesIn(journal: readonly JournalEntry[]): string[] {
  const events = journal.filter(({ kind }) => kind === 'event');
  return [...new Set(events.map(({ payload }) => decodeEvent(payload).type))].sort();
}

function isRead({ journal, states }: KeptRelease): void {
  it('has a complete chain, and no unknown event', () => {
    let previousHash = beforeFirst('auction').hash;
    for (const { shard, sequence, epoch, kind, payload, hash } of journal) {
      expect(recordHash({ shard, sequence, epoch, kind, payload, previousHash })).toBe(hash);
      previousHash = hash;
    }
    expect(typesIn(journal).length).toBeGreaterThanOrEqual(22);
  });

  it('leads to the same states', () => {
    const today = statesAfter(journal);
    expect(Object.keys(today).sort()).toEqual(Object.keys(states).sort());
    for (const [id, state] of Object.entries(states)) {
      // Fields that a later release adds are not compared.
      expect(JSON.parse(JSON.stringify(today[id]))).toMatchObject(state as object);
    }
  });
}

function isOpened({ backup, secrets, schema, play }: KeptRelease): void {
  let database: TestDatabase;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'sotto-upgrade-'));
    chmodSync(folder, 0o711);
    cpSync(secrets, path.join(folder, 'secrets.json'));
    database = await createTestDatabase();
    await restoreBackup(database.url, await backupToRestore(backup), () => undefined);
  });
  afterAll(async () => {
    await dropWithRoles(database);
    rmSync(folder, { recursive: true, force: true });
  });

  it('is in tables that its migrations still make: a migration that has run is never edited', async () => {
    const { migrations } = await readManifest(backup);
    const before = await createTestDatabase(allMigrations.filter(({ name }) => migrations.includes(name)));
    expect(await schemaText(before.pool)).toBe(schema);
    await before.drop();
  });

  it('is in today’s tables once it is restored', async () => {
    const fresh = await createTestDatabase(allMigrations);
    expect(await schemaText(database.pool)).toBe(await schemaText(fresh.pool));
    await fresh.drop();
  });

  it('gives the same projections, byte for byte, when they are rebuilt', async () => {
    const reader = new PostgresJournalReader(database.pool, 'auction');
    const tables = await compareProjection(auctionProjection, {
      pool: database.pool,
      reader,
      clock: new SystemClock(),
    });
    expect(tables.filter(({ rows }) => rows > 0).length).toBeGreaterThan(3);
    expect(tables.filter(({ differing }) => differing > 0)).toEqual([]);
  });

  it('has valid journals, a ledger that follows from them, and seals of its keys', async () => {
    const env = { DATABASE_URL: database.url, DATA_DIR: folder };
    const { code, output } = await runTool('apps/cli/main.js journal', ['verify'], env);
    expect([code, output]).toEqual([0, expect.stringContaining('SOUND')]);
  });

  describe('its cluster', () => isTradedOn(play, () => ({ folder, url: database.url })));
}

function isTradedOn(
  play: KeptRelease['play'],
  place: () => { readonly folder: string; readonly url: string },
): void {
  let cluster: OwnedCluster;
  let floor: TradingFloor;

  beforeAll(async () => {
    const { folder, url } = place();
    cluster = await startCluster({ dataDir: folder, env: { DATABASE_URL: url } });
    floor = new TradingFloor(cluster);
  }, 90_000);
  afterAll(async () => {
    floor.close();
    await cluster.stop();
  });

  it('shows finished auctions as they were shown then', async () => {
    const originator = await floor.trader('originator-1');
    expect(await originator.view(play.over.auction_id)).toMatchObject({
      status: play.over.status,
      phase: 'COMPLETED',
    });
    expect(await originator.timeline(play.over.auction_id)).toEqual(play.over.timeline);
  });

  it('knows old commands, and opens nothing twice', async () => {
    const originator = await floor.trader('originator-1');
    const again = await originator.create(play.open.body, play.open.key);
    expect([again.status, again.body.auction_id]).toEqual([200, play.open.auction_id]);
  });

  it('goes on with open auctions, or has ended them in time', async () => {
    const [originator, mia] = (await floor.traders('originator-1', 'maker-1')) as [Trader, Trader];
    const view = await originator.view(play.open.auction_id);
    // It was open for a day, so later it has closed once its shard had an owner again.
    expect(view.status).toMatch(/^(OPEN|CLOSED|AWARDED|SETTLED|NO_AWARD|EXECUTION_FAILED)$/);
    const [quote] = await mia.myQuotes(play.open.auction_id);
    expect(quote?.quote_id).toBe(play.quote.quote_id);
    const fresh = await originator.opens({ ...play.open.body, duration_ms: 60_000 });
    await mia.quotes(fresh.auction_id, 400_000, 1);
    expect((await originator.cancel(fresh.auction_id)).status).toBe(200);
  });
}
