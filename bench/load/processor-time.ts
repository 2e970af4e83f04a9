import { readdirSync, readFileSync } from 'node:fs';
import type { RunningCluster } from '#libs/testing/cluster/running-cluster.js';

/** The kernel counts in hundredths of a second. */
const MILLIS_PER_TICK = 10;
const USER = 11;
const SYSTEM = 12;
const PARENT = 1;

type Times = ReadonlyMap<string, number>;
type Calls = ReadonlyMap<string, { readonly reads: number; readonly writes: number }>;

/** Who takes how much processor time: every process of the cluster, of the database each part by what it works for, and this one. */
export class ProcessorTime {
  private before: Times = new Map();
  private callsBefore: Calls = new Map();

  constructor(private readonly cluster: RunningCluster) {}

  begin(): void {
    this.before = this.times();
    this.callsBefore = this.calls();
  }

  /** Microseconds since the beginning for each of so many pieces of work. */
  microsPer(pieces: number): Record<string, number> {
    const spent = [...this.times()].map(([name, millis]) => {
      return [name, Math.max(0, millis - (this.before.get(name) ?? 0))] as const;
    });
    const all = spent.reduce((sum, [, millis]) => sum + millis, 0);
    return Object.fromEntries(
      [...spent, ['all', all] as const]
        .map(([name, millis]) => [name, Math.round((millis * 1_000) / Math.max(1, pieces))] as const)
        .filter(([, micros]) => micros > 0),
    );
  }

  /** Reads and writes that processes have asked the kernel for since the beginning, for each of so many pieces of work. */
  callsPer(pieces: number): Record<string, string> {
    const told = [...this.calls()].map(([name, { reads, writes }]) => {
      const before = this.callsBefore.get(name) ?? { reads: 0, writes: 0 };
      const per = (now: number, then: number): string => ((now - then) / Math.max(1, pieces)).toFixed(2);
      return [name, `${per(reads, before.reads)} reads, ${per(writes, before.writes)} writes`] as const;
    });
    return Object.fromEntries(told);
  }

  private calls(): Calls {
    const processes = this.cluster.file.processes.filter(({ kind }) => kind !== 'postgres');
    return new Map(processes.map(({ name, pid }) => [name, callsOf(pid)]));
  }

  private times(): Times {
    const times = new Map<string, number>([['generator', timeOf(process.pid)]]);
    for (const { name, kind, pid } of this.cluster.file.processes) {
      if (kind !== 'postgres') times.set(name, timeOf(pid));
      else for (const [part, millis] of database(pid)) times.set(part, millis);
    }
    return times;
  }
}

/** Of the server each part: sessions by their login, the rest by what they do. */
function database(postmaster: number): Times {
  const times = new Map<string, number>();
  for (const pid of childrenOf(postmaster)) {
    const part = `postgres: ${partOf(titleOf(pid))}`;
    times.set(part, (times.get(part) ?? 0) + timeOf(pid));
  }
  return times;
}

/** What is behind `postgres:`, of a session its login, its database, whence it comes and what it does just now. */
function partOf(title: string): string {
  return /^(\S+) \S+ \S+\(\d+\)/.exec(title)?.[1] ?? (title.trim() || 'others');
}

function titleOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      .replaceAll('\0', ' ')
      .replace(/^postgres: /, '');
  } catch {
    return '';
  }
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(statOf(name)[PARENT]) === parent)
    .map(Number);
}

function timeOf(pid: number): number {
  const stat = statOf(String(pid));
  return (Number(stat[USER] ?? 0) + Number(stat[SYSTEM] ?? 0)) * MILLIS_PER_TICK;
}

function callsOf(pid: number): { reads: number; writes: number } {
  const text = readFileSync(`/proc/${pid}/io`, 'utf8');
  const count = (name: string): number => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  return { reads: count('syscr'), writes: count('syscw') };
}

/** The fields behind the name, which may hold anything; none of a process that has gone. */
function statOf(pid: string): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
