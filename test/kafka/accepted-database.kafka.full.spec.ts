import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import type { ToolRun } from '#libs/testing/cluster/tool-run.js';
import type { QuoteJson } from '#libs/client/wire.js';
import { ServiceRecords } from '../e2e/books.js';
import { auctionBody, TradingFloor } from '../e2e/trading-floor.js';
import { LostDatabase, settle, tradersOn } from './lost-database.js';

jest.setTimeout(120_000);

describeWithKafka('a cluster on Kafka that has lost its database', { anyBrokers: true }, (kafka) => {
  let place: LostDatabase;
  let found: OwnedCluster | undefined;
  let before: unknown;
  let open: QuoteJson;
  const accept = (...args: readonly string[]): Promise<ToolRun> =>
    place.run('journal', place.fresh, 'accept-restored', ...args);

  /** Money deposited since the backup, which no journal has. */
  const paysIn = async (given: LostDatabase, dataDir: string): Promise<void> => {
    const what =
      '--account originator-1@demo.sotto --venue venue_a --amount-atoms 5000000 --reference wire-7';
    const { code, errors, output } = await given.run('ledger', dataDir, 'open', ...what.split(' '));
    expect([code, errors, output]).toEqual([0, errors, expect.stringContaining('entered now')]);
  };

  /** All balances, the evidence for admission, and the reservations. */
  const booksOf = async (cluster: OwnedCluster): Promise<unknown> => {
    const books = new ServiceRecords(cluster);
    try {
      return {
        balances: await books.rows(
          `select account_id, venue, asset, amount::text from custody.balances where amount <> 0 order by 1, 2, 3`,
        ),
        evidence: await books.rows(
          `select account_id, venue, resource, asset, amount::text from risk.evidence where amount <> 0 order by 1, 2, 3, 4`,
        ),
        reserved: await books.rows(
          `select account_id, venue, resource, asset, (shard_0 + shard_1 + shard_2)::text as held from risk.reserved
           where shard_0 + shard_1 + shard_2 <> 0 order by 1, 2, 3, 4`,
        ),
        settlements: await books.rows(
          `select award_id, outcome, venue, asset, delivered_atoms::text from custody.settlements order by 1`,
        ),
      };
    } finally {
      await books.close();
    }
  };

  beforeAll(async () => {
    place = await LostDatabase.after(kafka(), async (floor, given) => {
      await paysIn(given, given.lost.dataDir);
      // Tokens bought since the backup are sold again: the second settlement needs the first.
      await settle(floor, 'BUY');
      await settle(floor, 'SELL');
      const [originator, maker] = await tradersOn(floor);
      const { auction_id: id } = await originator.opens(
        auctionBody(floor.contract('venue_a', 1), [maker], { duration_ms: 600_000 }),
      );
      open = await maker.quotes(id, 500_000, 10);
      before = await booksOf(given.lost);
    });
    await place.restore();
  }, 200_000);
  afterAll(async () => {
    await found?.stop();
    await place.dispose();
  });

  it('reports what a restored backup lacks, and changes nothing', async () => {
    for (let asked = 1; asked <= 2; asked += 1) {
      const { code, output, errors } = await accept();
      expect([code, errors, output]).toEqual([
        0,
        errors,
        expect.stringMatching(
          /shard \d: the backup goes up to record \d+.*awards to settle: 2; to give up: 0.*--confirm/s,
        ),
      ]);
    }
    const { output: people } = await place.run('accounts', place.fresh, 'list');
    expect(people).toContain('originator-1@demo.sotto');
    const { code, errors } = await place.startOn(place.fresh);
    expect([code, errors]).toEqual([78, expect.stringContaining('npm run journal -- accept-restored')]);
  });

  it('restores the ledger to the atom, and trading goes on', async () => {
    await paysIn(place, place.fresh);
    const accepted = await accept('--confirm', '--output', 'json');
    expect([accepted.code, accepted.errors]).toEqual([0, accepted.errors]);
    expect(JSON.parse(accepted.output)).toMatchObject({
      accepted: true,
      settled: [{ venue: 'venue_a' }, { venue: 'venue_a' }],
      shortfalls: [],
      objections: [],
      unknown_accounts: [],
    });

    found = await startCluster({ dataDir: place.fresh, env: place.settings });
    expect(await booksOf(found)).toEqual(before);
    const floor = new TradingFloor(found);
    const [originator, maker] = await tradersOn(floor);
    expect((await originator.view(open.auction_id)).status).toBe('OPEN');
    await maker.withdraw(open);
    await settle(floor, 'SELL');
    const verdict = await place.run('journal', place.fresh, 'verify');
    expect([verdict.code, verdict.output]).toEqual([0, expect.stringContaining('SOUND')]);
    floor.close();
    const { code, errors } = await accept();
    expect([code, errors]).toEqual([69, expect.stringContaining('stop the cluster first')]);
  });

  it('is a normal cluster from then on', async () => {
    await found?.stop();
    const { code, output } = await accept('--confirm');
    expect([code, output]).toEqual([0, expect.stringContaining('nothing to do')]);
    const verdict = await place.run('journal', place.fresh, 'verify');
    expect([verdict.code, verdict.output]).toEqual([0, expect.stringContaining('SOUND')]);
  });

  it('is not written by the old cluster if that comes back, which says why', async () => {
    const { code, errors, output } = await place.startOn(place.lost.dataDir);
    expect([code, errors + output]).toEqual([
      65,
      expect.stringMatching(/shard \d: its topic goes on to record \d+, written for another database/),
    ]);
    const theirs = await place.run('journal', place.lost.dataDir, 'verify');
    expect([theirs.code, theirs.output]).toEqual([
      1,
      expect.stringMatching(/shard \d: from record \d+ on it is written for another database/),
    ]);
    const verdict = await place.run('journal', place.fresh, 'verify');
    expect([verdict.code, verdict.output]).toEqual([0, expect.stringContaining('SOUND')]);
    found = await startCluster({ dataDir: place.fresh, env: place.settings });
    const floor = new TradingFloor(found);
    await settle(floor, 'BUY');
    floor.close();
  });
});
