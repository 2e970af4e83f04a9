import { chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { pickPortRange } from '#libs/platform/ports.js';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster.js';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import { runTool, type ToolRun } from '#libs/testing/tool-run.js';
import type { QuoteView } from '#libs/testing/wire.js';
import { Books } from '../e2e/books.js';
import { auctionBody, TradingFloor, type Trader } from '../e2e/trading-floor.js';

jest.setTimeout(120_000);

const LIMITS = { LIMITS_FACTOR: '50' };
const CONTRACTS = 10;

describeWithKafka('a cluster on Kafka that has lost its database', { anyBrokers: true }, (kafka) => {
  let folder: string;
  let backup: string;
  let fresh: string;
  let lost: OwnedCluster;
  let found: OwnedCluster | undefined;
  let before: unknown;
  let open: QuoteView;
  const settings = (): Record<string, string> => ({
    ...LIMITS,
    KAFKA_BROKERS: kafka().addresses.join(','),
    KAFKA_TOPIC_PREFIX: kafka().prefix,
  });
  const run = (program: string, dataDir: string, ...args: readonly string[]): Promise<ToolRun> =>
    runTool(`apps/operations/${program}.js`, args, { DATA_DIR: dataDir, ...settings() });
  const accept = (...args: readonly string[]): Promise<ToolRun> =>
    run('journal', fresh, 'accept-restored', ...args);

  /** Money that came in since the backup, of which no journal knows. */
  const paysIn = async (dataDir: string): Promise<void> => {
    const what =
      '--account originator-1@demo.sotto --venue venue_a --amount-atoms 5000000 --reference wire-7';
    const { code, errors, output } = await run('ledger', dataDir, 'open', ...what.split(' '));
    expect([code, errors, output]).toEqual([0, errors, expect.stringContaining('entered now')]);
  };

  /** An auction that is settled on the ledger. */
  const settled = async (floor: TradingFloor, side: 'BUY' | 'SELL'): Promise<void> => {
    const [originator, maker] = await traders(floor);
    const body = auctionBody(floor.contract('venue_a'), [maker], {
      side,
      duration_ms: 1_500,
      limit_price_atoms: side === 'BUY' ? 600_000 : 400_000,
    });
    const { auction_id: id } = await originator.opens(body);
    await maker.quotes(id, 500_000, CONTRACTS);
    await originator.until(id, 'SETTLED');
  };
  const traders = async (floor: TradingFloor): Promise<[Trader, Trader]> =>
    (await floor.traders('originator-1', 'maker-1')) as [Trader, Trader];

  /** What everybody has, what admission is told of it, and what is set aside. */
  const booksOf = async (cluster: OwnedCluster): Promise<unknown> => {
    const books = new Books(cluster);
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

  const startOnFresh = async (): Promise<ToolRun> =>
    runTool('apps/launcher/main.js', [], {
      DATA_DIR: fresh,
      PORT: String(await pickPortRange(1)),
      ...settings(),
    });

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'sotto-kafka-accepted-'));
    chmodSync(folder, 0o711);
    backup = path.join(folder, 'backup');
    fresh = mkdtempSync(path.join(folder, 'fresh-'));
    chmodSync(fresh, 0o711);
    lost = await startCluster({ env: settings() });
    const floor = new TradingFloor(lost);
    await settled(floor, 'BUY');
    const { code, errors } = await run('backup', lost.dataDir, 'create', '--folder', backup);
    expect([code, errors]).toEqual([0, errors]);
    await paysIn(lost.dataDir);
    // Tokens that were bought since the backup are sold again: the second settlement rests on the first.
    await settled(floor, 'BUY');
    await settled(floor, 'SELL');
    const [originator, maker] = await traders(floor);
    const { auction_id: id } = await originator.opens(
      auctionBody(floor.contract('venue_a', 1), [maker], { duration_ms: 600_000 }),
    );
    open = await maker.quotes(id, 500_000, CONTRACTS);
    before = await booksOf(lost);
    floor.close();
    copyFileSync(path.join(lost.dataDir, 'secrets.json'), path.join(fresh, 'secrets.json'));
    await lost.stop();
    const restored = await run('backup', fresh, 'restore', '--folder', backup);
    expect([restored.code, restored.errors]).toEqual([0, restored.errors]);
  }, 200_000);
  afterAll(async () => {
    await lost.stop();
    await found?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is told what a restored backup lacks, and nothing is changed by asking', async () => {
    for (let asked = 1; asked <= 2; asked += 1) {
      const { code, output, errors } = await accept();
      expect([code, errors, output]).toEqual([
        0,
        errors,
        expect.stringMatching(
          /shard \d: the backup goes up to record \d+.*awards to settle: 2, 0 of them by the only route.*--confirm/s,
        ),
      ]);
    }
    const { output: people } = await run('accounts', fresh, 'list');
    expect(people).toContain('originator-1@demo.sotto');
    const { code, errors } = await startOnFresh();
    expect([code, errors]).toEqual([78, expect.stringContaining('npm run journal -- accept-restored')]);
  });

  it('comes back with its ledger to the atom, and is traded on', async () => {
    await paysIn(fresh);
    const accepted = await accept('--confirm', '--output', 'json');
    expect([accepted.code, accepted.errors]).toEqual([0, accepted.errors]);
    expect(JSON.parse(accepted.output)).toMatchObject({
      accepted: true,
      settled: [{ venue: 'venue_a' }, { venue: 'venue_a' }],
      shortfalls: [],
      objections: [],
      unknown_accounts: [],
    });

    found = await startCluster({ dataDir: fresh, env: settings() });
    expect(await booksOf(found)).toEqual(before);
    const floor = new TradingFloor(found);
    const [originator, maker] = await traders(floor);
    expect((await originator.view(open.auction_id)).status).toBe('OPEN');
    await maker.withdraw(open);
    await settled(floor, 'SELL');
    const verdict = await run('journal', fresh, 'verify');
    expect([verdict.code, verdict.output]).toEqual([0, expect.stringContaining('SOUND')]);
    floor.close();
    const { code, errors } = await accept();
    expect([code, errors]).toEqual([69, expect.stringContaining('stop the cluster first')]);
  });

  it('is like any other from then on', async () => {
    await found?.stop();
    const { code, output } = await accept('--confirm');
    expect([code, output]).toEqual([0, expect.stringContaining('nothing is to be done')]);
    const verdict = await run('journal', fresh, 'verify');
    expect([verdict.code, verdict.output]).toEqual([0, expect.stringContaining('SOUND')]);
  });
});
