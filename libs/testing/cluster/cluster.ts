import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, mkdtempSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pickPortRange } from '../../platform/supervision/ports.js';
import { RunningCluster } from './running-cluster.js';

const READY_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 50;

export interface ClusterOptions {
  /** Settings of the launcher and of every process, such as LIMITS_FACTOR. */
  readonly env?: Readonly<Record<string, string>>;
  /** A folder that outlives the cluster. Without it a new folder is created, and removed at the end. */
  readonly dataDir?: string;
  /** The cluster ends when this process ends, instead of when its starter ends. */
  readonly endsWith?: number;
  /** Other files to remove when the cluster has ended. */
  readonly leftovers?: readonly string[];
}

/** A cluster of real processes, as `npm start` runs it. It ends when the process that started it ends, at the latest. */
export class OwnedCluster extends RunningCluster {
  private readonly ended: Promise<number | null>;

  constructor(
    dataDir: string,
    private readonly launcher: ChildProcess,
    private readonly keeper: ChildProcess,
  ) {
    super(dataDir);
    this.ended = once(launcher, 'exit').then(([code]) => code as number | null);
  }

  get launcherPid(): number {
    return pidOf(this.launcher);
  }

  get hasEnded(): boolean {
    return this.launcher.exitCode !== null || this.launcher.signalCode !== null;
  }

  /** Stops it in order, as an operator would. Resolves with the launcher's exit code. */
  async stop(): Promise<number | null> {
    this.launcher.ref();
    if (!this.hasEnded) this.launcher.kill('SIGTERM');
    const code = await this.ended;
    await this.dismissKeeper();
    return code;
  }

  /** Kills only the launcher. The caller checks what happens to the other processes. */
  async killLauncher(): Promise<void> {
    this.launcher.kill('SIGKILL');
    await this.ended;
  }

  private async dismissKeeper(): Promise<void> {
    if (this.keeper.exitCode !== null) return;
    const gone = once(this.keeper, 'exit');
    this.keeper.ref();
    this.keeper.stdin?.end();
    await gone;
  }
}

/** Starts a cluster on free ports and resolves when it is ready. On failure the error has the ends of all logs. */
export async function startCluster(options: ClusterOptions = {}): Promise<OwnedCluster> {
  const dataDir = options.dataDir ?? temporaryFolder();
  const port = await pickPortRange(Number(options.env?.GATEWAYS ?? 1));
  const executionPort = await pickPortRange(1);
  const log = openSync(path.join(dataDir, 'launcher.log'), 'a');
  const launcher = spawn(process.execPath, [path.resolve('tools/start.mjs')], {
    env: {
      PATH: process.env.PATH,
      DATA_DIR: dataDir,
      PORT: String(port),
      EXECUTION_PORT: String(executionPort),
      // Most specs are about auctions. Other services would only take time.
      SERVICES: 'auction',
      ...options.env,
    },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const removed = options.dataDir === undefined ? [dataDir] : [];
  const keeper = hireKeeper(launcher, options.endsWith, [...removed, ...(options.leftovers ?? [])]);
  launcher.unref();
  const cluster = new OwnedCluster(dataDir, launcher, keeper);
  await untilReady(cluster);
  return cluster;
}

async function untilReady(cluster: OwnedCluster): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS;
  while (!cluster.isReady) {
    if (cluster.hasEnded || performance.now() > deadline) {
      const tails = cluster.logTails();
      await cluster.stop();
      throw new Error(`the cluster did not become ready\n${tails}`);
    }
    await sleep(LOOK_EVERY_MS);
  }
}

/** Neither the cluster nor its keeper may delay the end of the tests, because the keeper waits for that end. */
export function hireKeeper(
  launcher: ChildProcess,
  endsWith: number | undefined,
  removed: readonly string[],
): ChildProcess {
  const script = path.resolve('dist/libs/testing/cluster/cluster-keeper.js');
  const keeper = spawn(
    process.execPath,
    [script, String(pidOf(launcher)), String(endsWith ?? ''), ...removed],
    {
      stdio: ['pipe', 'ignore', endsWith === undefined ? 'inherit' : 'ignore'],
    },
  );
  keeper.unref();
  if (keeper.stdin instanceof Socket) keeper.stdin.unref();
  return keeper;
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error('the process could not be started');
  return child.pid;
}

function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'sotto-e2e-'));
  // If the tests run as root, the database runs as another user, who needs access to its folder.
  chmodSync(folder, 0o711);
  return folder;
}
