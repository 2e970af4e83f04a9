import { chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from '@jest/globals';
import { pickPortRange } from '#libs/platform/supervision/ports.js';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import type { TestKafka } from '#libs/testing/kafka/test-kafka.js';
import { runTool, type ToolRun } from '#libs/testing/cluster/tool-run.js';
import { auctionBody, TradingFloor, type Trader } from '../e2e/trading-floor.js';

const CONTRACTS = 10;

/**
 * A cluster on Kafka that traded, was backed up, traded on and then lost its database; its keys are in a new
 * data folder.
 */
export class LostDatabase {
  private constructor(
    private readonly kafka: TestKafka,
    private readonly folder: string,
    /** The data folder that the backup is restored to. */
    readonly fresh: string,
    /** Its data folder stays after it has stopped. */
    readonly lost: OwnedCluster,
  ) {}

  /** `since` happens after the backup, before the database is lost. */
  static async after(
    kafka: TestKafka,
    since: (floor: TradingFloor, lost: LostDatabase) => Promise<void>,
  ): Promise<LostDatabase> {
    const folder = mkdtempSync(path.join(tmpdir(), 'sotto-kafka-lost-database-'));
    const fresh = mkdtempSync(path.join(folder, 'fresh-'));
    const former = mkdtempSync(path.join(folder, 'former-'));
    for (const each of [folder, fresh, former]) chmodSync(each, 0o711);
    const lost = await startCluster({ dataDir: former, env: settingsOf(kafka) });
    const made = new LostDatabase(kafka, folder, fresh, lost);
    try {
      const floor = new TradingFloor(lost);
      await settle(floor, 'BUY');
      const { code, errors } = await made.run('backup', lost.dataDir, 'create', '--folder', made.backup);
      expect([code, errors]).toEqual([0, errors]);
      await since(floor, made);
      floor.close();
      copyFileSync(path.join(lost.dataDir, 'secrets.json'), path.join(fresh, 'secrets.json'));
      await lost.stop();
    } catch (error) {
      await made.dispose();
      throw error;
    }
    return made;
  }

  get settings(): Record<string, string> {
    return settingsOf(this.kafka);
  }

  run(program: string, dataDir: string, ...args: readonly string[]): Promise<ToolRun> {
    return runTool(`apps/cli/main.js ${program}`, args, { DATA_DIR: dataDir, ...this.settings });
  }

  async restore(): Promise<void> {
    const { code, errors } = await this.run('backup', this.fresh, 'restore', '--folder', this.backup);
    expect([code, errors]).toEqual([0, errors]);
  }

  /** A start that ends by itself. */
  async startOn(dataDir: string): Promise<ToolRun> {
    return await runTool('apps/launcher/main.js', [], {
      DATA_DIR: dataDir,
      PORT: String(await pickPortRange(1)),
      ...this.settings,
    });
  }

  async dispose(): Promise<void> {
    await this.lost.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private get backup(): string {
    return path.join(this.folder, 'backup');
  }
}

function settingsOf({ addresses, prefix }: TestKafka): Record<string, string> {
  return { LIMITS_FACTOR: '50', KAFKA_BROKERS: addresses.join(','), KAFKA_TOPIC_PREFIX: prefix };
}

export async function tradersOn(floor: TradingFloor): Promise<[Trader, Trader]> {
  return (await floor.traders('originator-1', 'maker-1')) as [Trader, Trader];
}

/** An auction that is settled on the ledger. */
export async function settle(floor: TradingFloor, side: 'BUY' | 'SELL'): Promise<void> {
  const [originator, maker] = await tradersOn(floor);
  const body = auctionBody(floor.contract('venue_a'), [maker], {
    side,
    duration_ms: 1_500,
    limit_price_atoms: side === 'BUY' ? 600_000 : 400_000,
  });
  const { auction_id: id } = await originator.opens(body);
  await maker.quotes(id, 500_000, CONTRACTS);
  await originator.until(id, 'SETTLED');
}
