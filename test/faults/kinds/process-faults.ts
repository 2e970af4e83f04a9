import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../simulator/kernel/random.js';
import { familyOf, signalAll } from '../installation/families.js';
import type { Installation } from '../installation/installation.js';
import { blockEventLoop } from '../installation/inspector.js';
import { PROCESSES } from '../installation/plan.js';
import { sortOf } from '../installation/wires.js';
import { alwaysThere, whereItIsSeen, type InjectedFaultKind } from './fault-kind.js';
import { mustBeThere, paused, untilGone } from './struck.js';

const SORTS = ['owner', 'gateway', 'projector', 'settler'];
export const PAUSE_MS = { least: 500, most: 12_000 };
const BLOCK_MS = { least: 300, most: 8_000 };
const RESTART_MS = 5_000;
const LOOK_EVERY_MS = 50;

function anyOf(sort: string, random: Random): string {
  return random.pick(PROCESSES.filter((name) => sortOf(name) === sort));
}

const ofSorts: readonly InjectedFaultKind[] = SORTS.flatMap((sort) => [
  {
    name: `kill:${sort}`,
    missing: alwaysThere,
    strike: (site, random) => killed(site, anyOf(sort, random)),
  },
  {
    name: `pause:${sort}`,
    missing: whereItIsSeen,
    strike: (site, random) =>
      paused([site.pidOf(anyOf(sort, random))], random.between(PAUSE_MS.least, PAUSE_MS.most)),
  },
  {
    name: `block:${sort}`,
    missing: alwaysThere,
    strike: async (site, random) => {
      const name = anyOf(sort, random);
      const millis = random.between(BLOCK_MS.least, BLOCK_MS.most);
      await blockEventLoop(site.pidOf(name), site.inspectorPorts.get(name) ?? 0, millis);
    },
  },
]);

/** All database processes at once: PostgreSQL restarts them all if one is killed. */
const ofPostgres: readonly InjectedFaultKind[] = [
  {
    name: 'kill:postgres',
    missing: whereItIsSeen,
    strike: async (site) => {
      const family = familyOf(mustBeThere(site.pidOf('postgres')));
      signalAll(family, 'SIGSTOP');
      signalAll(family, 'SIGKILL');
      await untilAnother(site, 'postgres', family[0] ?? 0);
    },
  },
  {
    name: 'restart:postgres',
    missing: alwaysThere,
    strike: async (site) => {
      const pid = mustBeThere(site.pidOf('postgres'));
      signalAll([pid], 'SIGINT');
      await untilAnother(site, 'postgres', pid);
    },
  },
  {
    name: 'pause:postgres',
    missing: whereItIsSeen,
    strike: (site, random) =>
      paused(familyOf(site.pidOf('postgres')), random.between(PAUSE_MS.least, PAUSE_MS.most)),
  },
];

export const processFaults: readonly InjectedFaultKind[] = [...ofSorts, ...ofPostgres];

async function killed(site: Installation, name: string): Promise<void> {
  const pid = mustBeThere(site.pidOf(name));
  signalAll([pid], 'SIGKILL');
  await untilAnother(site, name, pid);
}

/** Whether the new process becomes ready is checked at the end of the round. */
async function untilAnother(site: Installation, name: string, former: number): Promise<void> {
  await untilGone(former);
  const deadline = performance.now() + RESTART_MS;
  while (site.pids.get(name) === former && performance.now() < deadline) await sleep(LOOK_EVERY_MS);
}
