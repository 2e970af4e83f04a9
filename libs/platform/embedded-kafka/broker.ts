import path from 'node:path';
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { StartFault } from '../process/start-fault.js';
import { type BrokerPlace, type ClusterPlan, DATA_FOLDER, propertiesOf } from './server-properties.js';
import { startWatcher } from '../supervision/orphan-reaper.js';

/** Time to stop. The last brokers cannot stop cleanly, because no controller is left to release them. */
const STOP_WITHIN_MS = 10_000;
const HEAP = '-Xmx384m';
/** Java's exit codes after a signal: 128 plus the number of SIGHUP, SIGINT or SIGTERM. */
const SIGNAL_OF_EXIT: ReadonlyMap<number | null, NodeJS.Signals> = new Map([
  [129, 'SIGHUP'],
  [130, 'SIGINT'],
  [143, 'SIGTERM'],
]);
/** Relative to the broker's folder, in which it is started. */
const PROPERTIES = 'server.properties';
/** With an ASCII locale Java cannot open a folder with other characters in its path. */
const UTF8_LOCALE = 'LC_ALL=C.UTF-8';

/** One Kafka process, which is both broker and controller. */
export class Broker {
  private process: ChildProcess | undefined;
  /** The size of the log file when this process started. */
  private logStart = 0;

  constructor(
    readonly place: BrokerPlace,
    private readonly plan: ClusterPlan,
  ) {}

  get pid(): number | undefined {
    return this.process?.pid;
  }

  get isRunning(): boolean {
    return this.process !== undefined && !hasEnded(this.process);
  }

  get logFile(): string {
    return path.join(this.place.folder, 'kafka.log');
  }

  async start(): Promise<void> {
    const { folder } = this.place;
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, PROPERTIES), propertiesOf(this.place, this.plan));
    if (!existsSync(path.join(folder, DATA_FOLDER, 'meta.properties'))) {
      const format = ['kafka.tools.StorageTool', 'format', '-t', this.plan.clusterId, '-c', PROPERTIES];
      const code = await this.exitOf(this.java(format));
      if (code !== 0)
        throw new StartFault(`the folder of broker ${this.place.id} cannot be prepared: see ${this.logFile}`);
    }
    this.logStart = sizeOf(this.logFile);
    const broker = this.java(['kafka.Kafka', PROPERTIES]);
    // Callers that wait for the process see its end.
    broker.on('error', () => undefined);
    if (broker.pid !== undefined) broker.once('exit', keepBroker(broker.pid));
    this.process = broker;
  }

  /** The signal that ended the broker, if one did. */
  get killedBy(): NodeJS.Signals | undefined {
    const { exitCode = null, signalCode = null } = this.process ?? {};
    return signalCode ?? SIGNAL_OF_EXIT.get(exitCode);
  }

  /** Describes how the broker ended. */
  get ending(): string {
    return this.killedBy ?? `exit code ${this.process?.exitCode ?? 'unknown'}`;
  }

  /** The last error or the last line in the log of a broker that ended too early. */
  async lastWords(): Promise<string> {
    const log = await readFile(this.logFile).catch(() => Buffer.alloc(0));
    const lines = log.toString('utf8', this.logStart).split('\n').filter(Boolean);
    return lines.findLast((line) => /ERROR|FATAL|Exception/.test(line)) ?? lines.at(-1) ?? 'it wrote nothing';
  }

  async stop(): Promise<void> {
    const { process: running } = this;
    if (running === undefined) return;
    const ended = this.exitOf(running);
    running.kill('SIGTERM');
    const timer = setTimeout(() => running.kill('SIGKILL'), STOP_WITHIN_MS);
    await ended;
    clearTimeout(timer);
    this.process = undefined;
  }

  signal(name: NodeJS.Signals): void {
    this.process?.kill(name);
  }

  /** Resolves when the broker has ended for any reason. */
  async gone(): Promise<void> {
    if (this.process !== undefined) await this.exitOf(this.process);
  }

  private java(args: readonly string[]): ChildProcess {
    const log = openSync(this.logFile, 'a');
    const jvm = [HEAP, '-XX:+UseSerialGC', '-Djava.awt.headless=true'];
    const command = ['java', ...jvm, '-cp', path.join(this.plan.jars, '*'), ...args];
    const child = spawn('env', [UTF8_LOCALE, ...command], {
      // A session of its own, so that Ctrl-C in the terminal reaches only us. We then stop the brokers in order.
      detached: true,
      stdio: ['ignore', log, log],
      cwd: this.place.folder,
    });
    closeSync(log);
    return child;
  }

  private async exitOf(child: ChildProcess): Promise<number | null> {
    if (hasEnded(child)) return child.exitCode;
    return await new Promise((resolve, reject) => {
      child.once('error', reject).once('exit', resolve);
    });
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Asks the broker to stop, and kills it after ten seconds. */
const SCRIPT = `
kill -TERM "$1"
for second in 1 2 3 4 5 6 7 8 9 10; do
  kill -0 "$1" || exit 0
  sleep 1
done
kill -KILL "$1"
`;

/** Makes sure that a broker does not outlive this process, however that ends. Returns a function to call after the broker's end. */
export function keepBroker(pid: number): () => void {
  return startWatcher('sotto-kafka-keeper', SCRIPT, [String(pid)]);
}
