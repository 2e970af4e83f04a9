import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { createBackup } from '#apps/operations/backup/create-backup.js';
import { backupToRestore, restoreBackup } from '#apps/operations/backup/restore-backup.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { journalOfAll, statesAfter } from '../upgrade/journal-of-all.js';
import {
  keepJournal,
  releaseFolder,
  releases,
  schemaText,
  type Play,
  type Release,
} from '../upgrade/releases.js';
import { auctionBody, mustBe, TradingFloor, type Trader } from './trading-floor.js';

jest.setTimeout(60_000);

/** `KEEP_RELEASE=latest` keeps what a cluster of this release writes, for all later ones: once, when the release is made. */
const { version: current } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const isMaking = process.env.KEEP_RELEASE !== undefined && !existsSync(releaseFolder(current));

if (isMaking) it('keeps what this release writes', makeRelease, 120_000);

/** A small cluster on which everything was done that a person can do, and what its auctions looked like then. */
async function makeRelease(): Promise<void> {
  const cluster = await startCluster();
  const floor = new TradingFloor(cluster);
  const [originator, mia, max] = (await floor.traders('originator-1', 'maker-1', 'maker-2')) as [
    Trader,
    Trader,
    Trader,
  ];
  const body = auctionBody(floor.contract('venue_a'), [mia, max], { duration_ms: 86_400_000 });
  const key = randomUUID();
  const open = mustBe(201, await originator.create(body, key));
  const quote = await mia.quotes(open.auction_id, 400_000, 5);
  const short = await originator.opens({ ...body, duration_ms: 1_500, allocation: 'SPLIT' });
  const winner = await mia.quotes(short.auction_id, 420_000, 10);
  mustBe(200, await mia.revise(winner, { price_atoms: 410_000 }));
  mustBe(200, await max.withdraw(await max.quotes(short.auction_id, 430_000, 10)));
  await originator.cancel((await originator.opens(body)).auction_id);
  await originator.until(short.auction_id, 'SETTLED');
  const { body: over } = await originator.untilCompletedRead(short.auction_id);
  const timeline = await originator.timeline(short.auction_id);
  const folder = releaseFolder(current);
  mkdirSync(folder, { recursive: true });
  const pool = openPool(cluster.file.database_url, { applicationName: 'test', max: 1 });
  await createBackup({ pool, tell: () => undefined }, path.join(folder, 'backup'));
  writeFileSync(path.join(folder, 'schema.txt'), await schemaText(pool));
  await pool.end();
  copyFileSync(path.join(cluster.dataDir, 'secrets.json'), path.join(folder, 'secrets.json'));
  chmodSync(path.join(folder, 'secrets.json'), 0o644);
  const play: Play = {
    open: { auction_id: open.auction_id, key, body },
    quote: { quote_id: quote.quote_id, revision: quote.revision },
    over: { auction_id: over.auction_id, status: over.status, timeline },
  };
  writeFileSync(path.join(folder, 'play.json'), `${JSON.stringify(play, undefined, 2)}\n`);
  const records = journalOfAll();
  keepJournal(current, records, statesAfter(records));
  floor.close();
  await cluster.stop();
}

const kept = isMaking ? [] : releases();

for (const release of kept)
  describe(`a cluster of this release on the data of ${release.version}`, () => held(release));

function held({ backup, secrets, play }: Release): void {
  let cluster: OwnedCluster;
  let base: OwnedCluster;
  let floor: TradingFloor;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'sotto-upgrade-'));
    chmodSync(folder, 0o711);
    cpSync(secrets, path.join(folder, 'secrets.json'));
    // Its server, and nothing else of it: the old data comes into a database of its own.
    base = await startCluster();
    const url = new URL(base.file.database_url);
    const admin = new pg.Client({ connectionString: url.href });
    await admin.connect();
    await admin.query('create database upgraded');
    await admin.end();
    url.pathname = '/upgraded';
    await restoreBackup(url.href, await backupToRestore(backup), () => undefined);
    cluster = await startCluster({ dataDir: folder, env: { DATABASE_URL: url.href } });
    floor = new TradingFloor(cluster);
  }, 90_000);

  afterAll(async () => {
    floor.close();
    await cluster.stop();
    await base.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('shows what was over as it was shown then', async () => {
    const originator = await floor.trader('originator-1');
    expect(await originator.view(play.over.auction_id)).toMatchObject({
      status: play.over.status,
      phase: 'COMPLETED',
    });
    expect(await originator.timeline(play.over.auction_id)).toEqual(play.over.timeline);
  });

  it('knows the commands of then, and opens nothing twice', async () => {
    const originator = await floor.trader('originator-1');
    const again = await originator.create(play.open.body, play.open.key);
    expect([again.status, again.body.auction_id]).toEqual([200, play.open.auction_id]);
  });

  it('goes on with what is there, or has ended it in its time', async () => {
    const [originator, mia] = (await floor.traders('originator-1', 'maker-1')) as [Trader, Trader];
    const view = await originator.view(play.open.auction_id);
    // It was open for a day: in later years it has closed as soon as somebody owned its shard again.
    expect(view.status).toMatch(/^(OPEN|CLOSED|AWARDED|SETTLED|NO_AWARD|EXECUTION_FAILED)$/);
    const [quote] = await mia.myQuotes(play.open.auction_id);
    expect(quote?.quote_id).toBe(play.quote.quote_id);
    const fresh = await originator.opens({ ...play.open.body, duration_ms: 60_000 });
    await mia.quotes(fresh.auction_id, 400_000, 1);
    expect((await originator.cancel(fresh.auction_id)).status).toBe(200);
  });
}
