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
  /** A folder that outlives the cluster; without it a new one is made and removed again. */
  readonly dataDir?: string;
  /** A process with which the cluster ends, instead of the one that starts it. */
  readonly endsWith?: number;
  /** What else is removed when the cluster has ended. */
  readonly leftovers?: readonly string[];
}

/** A cluster of real processes, as `npm start` runs it. It ends at the latest when the process that started it ends. */
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

  /** In order, as an operator would; resolves with the launcher's exit code. */
  async stop(): Promise<number | null> {
    this.launcher.ref();
    if (!this.hasEnded) this.launcher.kill('SIGTERM');
    const code = await this.ended;
    await this.dismissKeeper();
    return code;
  }

  /** The worst that can happen to it. What becomes of the other processes is for the caller to find out. */
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

/** Starts a cluster on free ports and resolves when it says that it is ready; else fails with the tails of all logs. */
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
      // What a spec is about; the others would only take their time.
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

/** Neither the cluster nor its keeper may hold up the end of the tests: that end is what the keeper waits for. */
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
  // As root the database runs as another user, who has to get to its folder.
  chmodSync(folder, 0o711);
  return folder;
}
