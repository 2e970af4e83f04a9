import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ground } from '../ground/ground.js';
import { ProcessorTime } from '../load/processor-time.js';
import { atMost, type RowOutcome, type Row, type Settings } from '../row.js';

const SETTLE_MS = 10_000;
const WATCH_MS = 20_000;
const QUICK_MS = 500;
const KIB_PER_MIB = 1_024;
const MICROS_PER_MILLI = 1_000;

/** A cluster without load. */
export const idle: Row = {
  name: 'idle',
  title: 'Idle cluster: processor of all processes, resident memory without Postgres',
  async run(ground: Ground, { quick, say }: Settings): Promise<RowOutcome> {
    const cluster = await ground.cluster({ LOAD_ACCOUNTS: '', LIMITS_FACTOR: '1' });
    await sleep(quick ? QUICK_MS : SETTLE_MS);
    const processor = new ProcessorTime(cluster);
    processor.begin();
    const watched = quick ? QUICK_MS : WATCH_MS;
    await sleep(watched);
    const { generator, ...spent } = processor.microsPer(1);
    const percent = Object.fromEntries(
      Object.entries(spent).map(([name, micros]) => [name, (100 * micros) / (watched * MICROS_PER_MILLI)]),
    );
    const all = percent.all ?? 0;
    const mib = Object.fromEntries(
      [
        ...cluster.file.processes.filter(({ kind }) => kind !== 'postgres'),
        launcherOf(cluster.launcherPid),
      ].map(({ name, pid }) => [name, residentMib(pid)]),
    );
    const resident = Object.values(mib).reduce((sum, one) => sum + one, 0);
    await cluster.stop();
    say(`generator ${generator ?? 0}`);
    return {
      checks: [
        atMost('processor', '% of a core', all, { minimum: 3, goal: 1 }),
        atMost('resident memory without Postgres', 'MiB', resident, { minimum: 900, goal: 600 }),
      ],
      details: { percent, mib },
    };
  },
};

function launcherOf(pid: number): { name: string; pid: number } {
  return { name: 'launcher', pid };
}

function residentMib(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / KIB_PER_MIB;
}
