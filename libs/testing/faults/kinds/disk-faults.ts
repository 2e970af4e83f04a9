import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { familyOf } from '../installation/families.js';
import { LOW_DISK_MB, type Installation } from '../installation/installation.js';
import type { SmallDisk } from '../installation/small-disk.js';
import type { FaultKind } from './fault-kind.js';

const FULL_MS = { least: 3_000, most: 10_000 };
const SLOW = { forMs: 8_000, leastMs: 50, mostMs: 900 };

function diskOf({ disks }: Installation, name: string): SmallDisk | undefined {
  return disks.find((disk) => disk.name === name);
}

function withoutDisk(name: string): FaultKind['missing'] {
  return (site) => {
    if (diskOf(site, name) !== undefined) return undefined;
    return name === 'broker-1' && site.brokers === undefined
      ? 'the journals are in PostgreSQL'
      : 'small file systems cannot be mounted: that takes root and tmpfs';
  };
}

export const diskFaults: readonly FaultKind[] = [
  {
    name: 'full-disk:postgres',
    missing: withoutDisk('postgres'),
    strike: async (site, random) => {
      const disk = diskOf(site, 'postgres');
      await disk?.fill();
      await sleep(random.between(FULL_MS.least, FULL_MS.most));
      await disk?.empty();
    },
  },
  {
    name: 'low-disk:postgres',
    missing: withoutDisk('postgres'),
    strike: async (site, random) => {
      const disk = diskOf(site, 'postgres');
      await disk?.fill(LOW_DISK_MB / 2);
      await sleep(random.between(FULL_MS.least, FULL_MS.most));
      await disk?.empty();
    },
  },
  {
    name: 'full-disk:broker',
    missing: withoutDisk('broker-1'),
    strike: async (site, random) => {
      const disk = diskOf(site, 'broker-1');
      await disk?.fill();
      await sleep(random.between(FULL_MS.least, FULL_MS.most));
      await disk?.empty();
      await site.brokers?.untilAllRun();
    },
  },
  {
    name: 'slow-fsync:postgres',
    missing: ({ options: { machine } }) =>
      machine.mayTrace ? undefined : 'strace is not there or may not trace: nothing delays fsync',
    strike: async (site, random) => {
      const micros = random.between(SLOW.leastMs, SLOW.mostMs) * 1_000;
      const calls = 'fsync,fdatasync,sync_file_range';
      const pids = familyOf(site.pidOf('postgres')).flatMap((pid) => ['-p', String(pid)]);
      const inject = ['-e', `trace=${calls}`, '-e', `inject=${calls}:delay_enter=${micros}`];
      const tracer = spawn('strace', ['-f', '-qq', ...inject, '-o', '/dev/null', ...pids], {
        stdio: 'ignore',
      });
      await sleep(SLOW.forMs);
      const gone = once(tracer, 'exit');
      tracer.kill('SIGINT');
      await gone;
    },
  },
];
