import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../simulator/kernel/random.js';
import { familyOf, tracerOf } from '../installation/families.js';
import { LOW_DISK_MB, type Installation } from '../installation/installation.js';
import type { SmallDisk } from '../installation/small-disk.js';
import type { InjectedFaultKind } from './fault-kind.js';
import { mustBeThere, until } from './struck.js';

const FULL_MS = { least: 3_000, most: 10_000 };
const SLOW = { attachesWithinMs: 5_000, forMs: 8_000, leastMs: 50, mostMs: 900 };
const CALLS = 'fsync,fdatasync,sync_file_range';

function diskOf({ disks }: Installation, name: string): SmallDisk | undefined {
  return disks.find((disk) => disk.name === name);
}

function withoutDisk(name: string): InjectedFaultKind['missing'] {
  return (site) => {
    if (diskOf(site, name) !== undefined) return undefined;
    return name === 'broker-1' && site.brokers === undefined
      ? 'the journals are in PostgreSQL'
      : 'small file systems cannot be mounted: that takes root and tmpfs';
  };
}

export const diskFaults: readonly InjectedFaultKind[] = [
  { name: 'full-disk:postgres', missing: withoutDisk('postgres'), strike: fillPostgres },
  { name: 'low-disk:postgres', missing: withoutDisk('postgres'), strike: almostFillPostgres },
  { name: 'full-disk:broker', missing: withoutDisk('broker-1'), strike: fillBroker },
  { name: 'slow-fsync:postgres', missing: withoutTracer, strike: slowDown },
];

function withoutTracer({ options: { machine } }: Installation): string | undefined {
  return machine.mayTrace ? undefined : 'strace is not there or may not trace: nothing delays fsync';
}

async function fillPostgres(site: Installation, random: Random): Promise<void> {
  await fillFor(site, 'postgres', random, 0);
}

async function almostFillPostgres(site: Installation, random: Random): Promise<void> {
  await fillFor(site, 'postgres', random, LOW_DISK_MB / 2);
}

/** A broker with a full disk ends itself, so it must be restarted. */
async function fillBroker(site: Installation, random: Random): Promise<void> {
  await fillFor(site, 'broker-1', random, 0);
  await site.brokers?.untilAllRun();
}

async function fillFor(site: Installation, name: string, random: Random, leftMb: number): Promise<void> {
  const disk = diskOf(site, name);
  if (disk === undefined) throw new Error(`there is no small disk of ${name}`);
  try {
    await disk.fill(leftMb);
    await sleep(random.between(FULL_MS.least, FULL_MS.most));
  } finally {
    await disk.empty();
  }
}

/** strace logs each delay: the fault counts only if the log has one. */
async function slowDown(site: Installation, random: Random): Promise<void> {
  const micros = random.between(SLOW.leastMs, SLOW.mostMs) * 1_000;
  const server = mustBeThere(site.pidOf('postgres'));
  const traceFile = path.join(site.logFolder, `slow-fsync-${Date.now()}.trace`);
  const pids = familyOf(server).flatMap((pid) => ['-p', String(pid)]);
  const inject = ['-e', `trace=${CALLS}`, '-e', `inject=${CALLS}:delay_enter=${micros}`];
  const tracer = spawn('strace', ['-f', '-qq', ...inject, '-o', traceFile, ...pids], { stdio: 'ignore' });
  const gone = once(tracer, 'exit').catch(() => undefined);
  try {
    const isAttached = (): boolean => tracer.pid !== undefined && tracerOf(server) === tracer.pid;
    await until(isAttached, SLOW.attachesWithinMs, () => 'strace does not trace the server');
    await sleep(SLOW.forMs);
  } finally {
    tracer.kill('SIGINT');
    await gone;
  }
  if (!readFileSync(traceFile, 'utf8').includes('(DELAYED)')) throw new Error('nothing was synced meanwhile');
}
