import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pickPortRange } from '../../platform/supervision/ports.js';

const SCRIPT = path.resolve('test/launcher/stand-in-launcher.mjs');
/** The port of the first gateway, and the ports above it that tests use. */
const PORTS = 5;
export const SETTLE_MS = 20_000;

export interface ClusterJson {
  readonly ready: boolean;
  readonly gateway_url: string;
  readonly database_url: string;
  readonly processes: readonly {
    readonly name: string;
    readonly kind: string;
    readonly pid: number;
    readonly health_url: string;
    readonly metrics_url: string;
    readonly url?: string;
  }[];
}

export interface Launcher {
  readonly process: ChildProcess;
  readonly code: Promise<number | null>;
  output: string;
}

/** Launchers on one data folder, with stand-ins for the processes. Finds and ends every process that they leave. */
export class Launches {
  readonly launched: Launcher[] = [];

  private constructor(
    readonly folder: string,
    readonly port: number,
  ) {}

  static async open(): Promise<Launches> {
    const folder = mkdtempSync(path.join(tmpdir(), 'sotto-launch-'));
    chmodSync(folder, 0o711);
    return new Launches(folder, await pickPortRange(PORTS));
  }

  async close(): Promise<void> {
    for (const { process: child, code } of this.launched) {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await code;
    }
    // Processes that ignore signals would be ended by the orphan reaper, but much later.
    for (const pid of this.pids()) killed(pid);
    await until(() => this.pids().length === 0);
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** `command` runs the launcher as its last argument. Without one the launcher is a child process of the tests. */
  launch(env: Readonly<Record<string, string>> = {}, command: readonly string[] = []): Launcher {
    const [program, ...args] = [...command, process.execPath, SCRIPT];
    const child = spawn(program, args, {
      env: {
        PATH: process.env.PATH,
        DATA_DIR: this.folder,
        PORT: String(this.port),
        SERVICES: 'auction',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const launcher: Launcher = {
      process: child,
      code: once(child, 'close').then(([code]) => code as number | null),
      output: '',
    };
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        launcher.output += chunk.toString();
      });
    }
    this.launched.push(launcher);
    return launcher;
  }

  async launchReady(env: Readonly<Record<string, string>> = {}): Promise<Launcher> {
    const launcher = this.launch(env);
    await until(() => this.isReady || launcher.process.exitCode !== null);
    if (launcher.process.exitCode !== null) throw new Error(launcher.output);
    return launcher;
  }

  /** Creates another database on the server of the running cluster, and returns its URL. */
  async anotherDatabase(): Promise<string> {
    const url = new URL(this.cluster.database_url);
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    await client.query('create database another');
    await client.end();
    url.pathname = '/another';
    return url.href;
  }

  /** Starts another cluster beside the first, with the n-th data folder and port for such clusters. */
  async launchBeside(url: string, n: number): Promise<Launcher> {
    const folder = path.join(this.folder, `beside-${n}`);
    const launcher = this.launch({ DATABASE_URL: url, DATA_DIR: folder, PORT: String(this.portBeside(n)) });
    await until(() => /^.*\bready$/m.test(launcher.output) || launcher.process.exitCode !== null);
    if (launcher.process.exitCode !== null) throw new Error(launcher.output);
    return launcher;
  }

  portBeside(n: number): number {
    return this.port + PORTS - 1 - n;
  }

  /** The exit code and error lines of a start that must fail. */
  async refusal(env: Readonly<Record<string, string>> = {}): Promise<[number | null, string[]]> {
    const launcher = this.launch(env);
    const code = await launcher.code;
    if (/^\s+at /m.test(launcher.output)) throw new Error(`a stack trace:\n${launcher.output}`);
    return [code, launcher.output.split('\n').filter((line) => line.startsWith('sotto: '))];
  }

  get cluster(): ClusterJson {
    return JSON.parse(readFileSync(this.clusterPath, 'utf8')) as ClusterJson;
  }

  get clusterPath(): string {
    return path.join(this.folder, 'cluster.json');
  }

  get isReady(): boolean {
    return existsSync(this.clusterPath) && this.cluster.ready;
  }

  pidOf(name: string): number {
    return this.entry(name).pid;
  }

  entry(name: string): ClusterJson['processes'][number] {
    const found = this.cluster.processes.find((entry) => entry.name === name);
    if (found === undefined) throw new Error(`the cluster has no process ${name}`);
    return found;
  }

  /** The processes whose arguments name the folder or that belong to a run on it, and those in the cluster file. */
  pids(): number[] {
    const known = existsSync(this.clusterPath) ? this.cluster.processes.map(({ pid }) => pid) : [];
    const { dev, ino } = statSync(this.folder, { bigint: true });
    const mark = `SOTTO_CLUSTER=${dev.toString(16)}-${ino.toString(16)}.`;
    const named = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter(
        (name) =>
          readProc(name, 'cmdline').includes(this.folder) ||
          readProc(name, 'environ').includes(mark) ||
          known.includes(Number(name)),
      )
      .filter((name) => !/^State:\s+Z/m.test(readProc(name, 'status')));
    return named.map(Number);
  }

  log(name: string): string {
    return readFileSync(path.join(this.folder, 'logs', `${name}.log`), 'utf8');
  }
}

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + SETTLE_MS;
  while (!(await condition())) {
    if (performance.now() > deadline)
      throw new Error(`the condition is still not met: ${condition.toString()}`);
    await sleep(30);
  }
}

function killed(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself meanwhile.
  }
}

function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
