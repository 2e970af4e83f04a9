import { readdirSync, readFileSync } from 'node:fs';
import type { RunningCluster } from '#libs/testing/cluster/running-cluster.js';

/** The kernel counts in hundredths of a second. */
const MILLIS_PER_TICK = 10;
const USER = 11;
const SYSTEM = 12;
const PARENT = 1;

type Times = ReadonlyMap<string, number>;
type Calls = ReadonlyMap<string, { readonly reads: number; readonly writes: number }>;

/**
 * Processor time of every process of the cluster and of this one. PostgreSQL is split by what each part works
 * for.
 */
export class ProcessorTime {
  private before: Times = new Map();
  private callsBefore: Calls = new Map();

  constructor(private readonly cluster: RunningCluster) {}

  begin(): void {
    this.before = this.times();
    this.callsBefore = this.calls();
  }

  /** Microseconds since `begin` for each piece of work. */
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

  /** Reads and writes of the kernel since `begin`, for each piece of work. */
  callsPer(pieces: number): Record<string, string> {
    const perPiece = [...this.calls()].map(([name, { reads, writes }]) => {
      const before = this.callsBefore.get(name) ?? { reads: 0, writes: 0 };
      const per = (now: number, then: number): string => ((now - then) / Math.max(1, pieces)).toFixed(2);
      return [name, `${per(reads, before.reads)} reads, ${per(writes, before.writes)} writes`] as const;
    });
    return Object.fromEntries(perPiece);
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

/** Processor time of the server by part: sessions by login, other processes by title. */
function database(postmaster: number): Times {
  const times = new Map<string, number>();
  for (const pid of childrenOf(postmaster)) {
    const part = `postgres: ${partOf(titleOf(pid))}`;
    times.set(part, (times.get(part) ?? 0) + timeOf(pid));
  }
  return times;
}

/** The title of a session after `postgres:` holds login, database, address and current command. */
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

/** The fields after the name, which may hold anything. Empty for a process that has ended. */
function statOf(pid: string): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
