import { chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { pickPortRange } from '#libs/platform/ports.js';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster.js';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import { runTool, type ToolRun } from '#libs/testing/tool-run.js';
import { Books } from '../e2e/books.js';
import { auctionBody, TradingFloor, type Trader } from '../e2e/trading-floor.js';

jest.setTimeout(120_000);

const LIMITS = { LIMITS_FACTOR: '50' };

describeWithKafka('a database that is older than its topics', { anyBrokers: true }, (kafka) => {
  let folder: string;
  let backup: string;
  let fresh: string;
  let lost: OwnedCluster;
  const settings = (): Record<string, string> => ({
    ...LIMITS,
    KAFKA_BROKERS: kafka().addresses.join(','),
    KAFKA_TOPIC_PREFIX: kafka().prefix,
  });
  const run = (program: string, dataDir: string, ...args: readonly string[]): Promise<ToolRun> =>
    runTool(`apps/operations/${program}.js`, args, { DATA_DIR: dataDir, ...settings() });

  /** An auction that is settled on the ledger. */
  const settled = async (floor: TradingFloor, originator: Trader, maker: Trader): Promise<string> => {
    const body = auctionBody(floor.contract('venue_a'), [maker], {
      duration_ms: 1_500,
      limit_price_atoms: 600_000,
    });
    const { auction_id: id } = await originator.opens(body);
    await maker.quotes(id, 500_000, 10);
    await originator.until(id, 'SETTLED');
    return id;
  };

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'sotto-kafka-restored-'));
    chmodSync(folder, 0o711);
    backup = path.join(folder, 'backup');
    fresh = mkdtempSync(path.join(folder, 'fresh-'));
    chmodSync(fresh, 0o711);
    lost = await startCluster({ env: settings() });
    const floor = new TradingFloor(lost);
    const books = new Books(lost);
    const [originator, maker] = (await floor.traders('originator-1', 'maker-1')) as [Trader, Trader];
    await settled(floor, originator, maker);
    const { code, errors } = await run('backup', lost.dataDir, 'create', '--folder', backup);
    expect([code, errors]).toEqual([0, errors]);
    await settled(floor, originator, maker);
    await books.close();
    floor.close();
    copyFileSync(path.join(lost.dataDir, 'secrets.json'), path.join(fresh, 'secrets.json'));
    await lost.stop();
  }, 200_000);
  afterAll(async () => {
    await lost.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is restored, and not started', async () => {
    const restored = await run('backup', fresh, 'restore', '--folder', backup);
    expect([restored.code, restored.errors]).toEqual([0, restored.errors]);
    for (let start = 1; start <= 2; start += 1) {
      const { code, errors, output } = await runTool('apps/launcher/main.js', [], {
        DATA_DIR: fresh,
        PORT: String(await pickPortRange(1)),
        ...settings(),
      });
      expect(output).not.toContain('processes started');
      expect([code, errors.trim().split('\n')]).toEqual([
        78,
        [expect.stringMatching(/restored from a backup.*shard \d goes up to record \d+, the backup up to/)],
      ]);
    }
    const verdict = await run('journal', fresh, 'verify');
    expect([verdict.code, verdict.output]).toEqual([
      1,
      expect.stringContaining('is SETTLED in the journal, nothing in the ledger'),
    ]);
  });
});
