import { randomUUID } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createBackup } from '#apps/cli/backup/create-backup.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { startCluster } from '#libs/testing/cluster/cluster.js';
import { auctionBody, mustBe, TradingFloor, type Trader } from '../e2e/trading-floor.js';
import { journalOfAll, statesAfter } from './journal-of-all.js';
import { releaseFolder, schemaText, type RecordedPlay } from './releases.js';

/** Saves what a small cluster of this code writes and how its auctions looked, replacing earlier data of this name. */
export async function keepRelease(name: string): Promise<void> {
  const folder = releaseFolder(name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const cluster = await startCluster();
  const floor = new TradingFloor(cluster);
  const play = await playOn(floor);
  const pool = openPool(cluster.file.database_url, { applicationName: 'test', max: 3 });
  await createBackup({ pool, tell: () => undefined }, path.join(folder, 'backup'));
  writeFileSync(path.join(folder, 'schema.txt'), await schemaText(pool));
  await pool.end();
  const secrets = path.join(folder, 'secrets.json');
  copyFileSync(path.join(cluster.dataDir, 'secrets.json'), secrets);
  chmodSync(secrets, 0o644);
  floor.close();
  await cluster.stop();
  writeFileSync(path.join(folder, 'play.json'), `${JSON.stringify(play, undefined, 2)}\n`);
  const records = journalOfAll();
  const lines = records.map((record) => `${JSON.stringify(record)}\n`);
  writeFileSync(path.join(folder, 'journal.ndjson'), lines.join(''));
  writeFileSync(path.join(folder, 'states.json'), `${JSON.stringify(statesAfter(records))}\n`);
}

/** One auction that stays open, one that is settled and one that is cancelled. */
async function playOn(floor: TradingFloor): Promise<RecordedPlay> {
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
  return {
    open: { auction_id: open.auction_id, key, body },
    quote: { quote_id: quote.quote_id, revision: quote.revision },
    over: {
      auction_id: over.auction_id,
      status: over.status,
      timeline: await originator.timeline(short.auction_id),
    },
  };
}
