import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { ClusterFile, ListedProcess } from './cluster-file.js';
import { eventually } from '../eventually.js';

const TAIL_LINES = 15;
const RESTART_WITHIN_MS = 30_000;

/** A running cluster, found through its data folder. */
export class RunningCluster {
  constructor(readonly dataDir: string) {}

  /** Read each time, because pids change when a process is restarted. */
  get file(): ClusterFile {
    return JSON.parse(readFileSync(this.filePath, 'utf8')) as ClusterFile;
  }

  get gatewayUrl(): string {
    return this.file.gateway_url;
  }

  get isReady(): boolean {
    return existsSync(this.filePath) && this.file.ready;
  }

  process(name: string): ListedProcess {
    const found = this.file.processes.find((entry) => entry.name === name);
    if (found === undefined) throw new Error(`the cluster has no process ${name}`);
    return found;
  }

  /** Returns the pid of the killed process, for `restartOf`. */
  kill(name: string, signal: NodeJS.Signals = 'SIGKILL'): number {
    const { pid } = this.process(name);
    process.kill(pid, signal);
    return pid;
  }

  /** Resolves once another process has replaced the one of `formerPid` and is ready. */
  async restartOf(name: string, formerPid: number, withinMs = RESTART_WITHIN_MS): Promise<void> {
    await eventually(async () => {
      const { pid, health_url: healthUrl } = this.process(name);
      if (pid === formerPid) throw new Error(`${name} has not been started again`);
      const { status } = await fetch(healthUrl.replace('/healthz', '/readyz'));
      if (status !== 200) throw new Error(`${name} answers ${status} on /readyz`);
    }, withinMs);
  }

  /** The last lines of every log, to explain a failure. */
  logTails(): string {
    const folder = path.join(this.dataDir, 'logs');
    const logs = existsSync(folder) ? readdirSync(folder).map((name) => path.join(folder, name)) : [];
    return [path.join(this.dataDir, 'launcher.log'), ...logs]
      .filter((file) => existsSync(file))
      .map((file) => `--- ${path.basename(file)}\n${lastLines(file)}`)
      .join('\n');
  }

  private get filePath(): string {
    return path.join(this.dataDir, 'cluster.json');
  }
}

function lastLines(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-TAIL_LINES).join('\n');
}
