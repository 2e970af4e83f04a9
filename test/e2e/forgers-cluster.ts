import { readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { runTool, type ToolRun } from '#libs/testing/cluster/tool-run.js';
import { TradingFloor, type Trader } from './trading-floor.js';

/** A cluster, and a login that may write all of its tables. */
export class ForgersCluster {
  private constructor(
    readonly cluster: OwnedCluster,
    readonly database: pg.Client,
  ) {}

  static async start(): Promise<ForgersCluster> {
    const cluster = await startCluster({ env: { LIMITS_FACTOR: '50' } });
    try {
      const database = new pg.Client({ connectionString: cluster.file.database_url });
      await database.connect();
      return new ForgersCluster(cluster, database);
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** An originator and two makers who bid against each other. */
  async floor(): Promise<{ floor: TradingFloor; traders: [Trader, Trader, Trader] }> {
    const floor = new TradingFloor(this.cluster);
    const traders = await floor.traders('originator-1', 'maker-1', 'maker-2');
    return { floor, traders: traders as [Trader, Trader, Trader] };
  }

  tool(name: string, ...args: readonly string[]): Promise<ToolRun> {
    return runTool(`apps/cli/main.js ${name}`, args, { DATA_DIR: this.cluster.dataDir });
  }

  logOf(name: string): string {
    return readFileSync(path.join(this.cluster.dataDir, 'logs', `${name}.log`), 'utf8');
  }

  async stop(): Promise<void> {
    await this.database.end();
    await this.cluster.stop();
  }
}
