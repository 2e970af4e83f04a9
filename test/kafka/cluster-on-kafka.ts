import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import type { TestKafka } from '#libs/testing/kafka/test-kafka.js';
import { runTool, type ToolRun } from '#libs/testing/cluster/tool-run.js';

/** A whole cluster whose journals are in Kafka, seen from outside. */
export class ClusterOnKafka {
  private constructor(
    readonly settings: Readonly<Record<string, string>>,
    readonly dataDir: string,
    readonly cluster: OwnedCluster,
  ) {}

  static async start(
    { addresses, prefix }: TestKafka,
    name: string,
    more: Readonly<Record<string, string>> = {},
  ): Promise<ClusterOnKafka> {
    const settings = { ...more, KAFKA_BROKERS: addresses.join(','), KAFKA_TOPIC_PREFIX: prefix };
    const dataDir = mkdtempSync(path.join(tmpdir(), `sotto-${name}-`));
    chmodSync(dataDir, 0o711);
    return new ClusterOnKafka(settings, dataDir, await startCluster({ env: settings, dataDir }));
  }

  /** `npm run journal` with the cluster's settings. */
  journal(...args: string[]): Promise<ToolRun> {
    return runTool('apps/cli/main.js journal', args, { DATA_DIR: this.dataDir, ...this.settings });
  }

  logOf(name: string): string {
    const file = path.join(this.dataDir, 'logs', `${name}.log`);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }

  async readiness(name: string): Promise<unknown> {
    const answer = await fetch(this.cluster.process(name).health_url.replace('/healthz', '/readyz'));
    return await answer.json();
  }

  async end(): Promise<void> {
    await this.cluster.stop();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}
