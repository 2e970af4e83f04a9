import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '#libs/testing/eventually.js';
import type { OrdersFloor } from '../../e2e/execution/orders-floor.js';
import type { Random } from '../../simulator/kernel/random.js';
import { familyOf, signalAll } from '../installation/families.js';

export type Strike = (floor: OrdersFloor, random: Random) => Promise<void>;

const VENUES = ['venue_b', 'venue_e'] as const;
const CALLS = ['submit', 'cancel', 'amend', 'read'] as const;
/** The time that a restart may take, with everything that waits for it. */
const BACK_WITHIN_MS = 60_000;
/** Up to more than the time after which a cell considers its executor gone. */
const PAUSE_MS = { least: 500, most: 8_000 };
const IN_THE_MIDDLE_MS = 700;
const PROCESSES = ['cell', 'executor', 'signer', 'practice', 'projector', 'execution'] as const;

/** A process of this kind; any of them if there are several. */
function nameOf(sort: (typeof PROCESSES)[number], random: Random): string {
  if (sort === 'cell') return `cell-${random.below(2)}`;
  return sort === 'execution' ? 'execution-0' : sort;
}

function killed(sort: (typeof PROCESSES)[number]): Strike {
  return async ({ cluster }, random) => {
    const name = nameOf(sort, random);
    await cluster.restartOf(name, cluster.kill(name), BACK_WITHIN_MS);
  };
}

function stopped(sort: (typeof PROCESSES)[number]): Strike {
  return ({ cluster }, random) =>
    whileStopped([cluster.process(nameOf(sort, random)).pid], random.between(PAUSE_MS.least, PAUSE_MS.most));
}

async function whileStopped(pids: readonly number[], millis: number): Promise<void> {
  signalAll(pids, 'SIGSTOP');
  try {
    await sleep(millis);
  } finally {
    signalAll(pids, 'SIGCONT');
  }
}

/** For some of the next calls of this kind, at either venue. */
function atVenues(fault: string, call: string): Strike {
  return async (floor, random) => {
    for (const exchange_id of VENUES)
      await arm(floor, { exchange_id, fault, calls: [call], count: random.between(1, 3) });
  };
}

function atVenue(fault: string, more: Readonly<Record<string, unknown>> = {}): Strike {
  return async (floor, random) => {
    const exchange_id = random.pick(VENUES);
    await arm(floor, { exchange_id, fault, count: random.between(1, 3), ...more });
  };
}

/** The venues themselves may be down at this moment. */
async function arm(floor: OrdersFloor, fault: Readonly<Record<string, unknown>>): Promise<void> {
  await eventually(() => floor.admin('POST', '/faults', fault), BACK_WITHIN_MS);
}

/** The venues answer some submits, cancels or amends slowly, so that the process dies in the middle of them. */
function killedInTheMiddle(sort: (typeof PROCESSES)[number]): Strike {
  return async (floor, random) => {
    const calls = [random.pick(['submit', 'submit', 'cancel', 'amend'])];
    for (const exchange_id of VENUES)
      await arm(floor, { exchange_id, fault: 'delay', calls, count: 3, ms: IN_THE_MIDDLE_MS * 3 });
    await sleep(IN_THE_MIDDLE_MS);
    await killed(sort)(floor, random);
  };
}

/** The request is lost, and its sender dies before it learns this. */
const lostOnTheWay: Strike = async ({ cluster }) => {
  signalAll([cluster.process('practice').pid], 'SIGSTOP');
  await sleep(IN_THE_MIDDLE_MS);
  const gone = ['executor', 'practice'].map((name) => ({ name, pid: cluster.kill(name) }));
  await Promise.all(gone.map(({ name, pid }) => cluster.restartOf(name, pid, BACK_WITHIN_MS)));
};

const SENDERS = ['cell', 'executor', 'practice', 'execution'] as const;

/** All faults of the order cluster, by name. */
export const STRIKES: Readonly<Record<string, Strike>> = {
  ...Object.fromEntries(PROCESSES.map((sort) => [`kill:${sort}`, killed(sort)])),
  ...Object.fromEntries(PROCESSES.map((sort) => [`stop:${sort}`, stopped(sort)])),
  ...Object.fromEntries(SENDERS.map((sort) => [`kill-in-the-middle:${sort}`, killedInTheMiddle(sort)])),
  'kill:postgres': async ({ cluster }) => {
    const { pid } = cluster.process('postgres');
    const family = familyOf(pid);
    signalAll(family, 'SIGSTOP');
    signalAll(family, 'SIGKILL');
    await cluster.restartOf('postgres', pid, BACK_WITHIN_MS);
  },
  'stop:postgres': ({ cluster }, random) =>
    whileStopped(familyOf(cluster.process('postgres').pid), random.between(PAUSE_MS.least, PAUSE_MS.most)),
  ...Object.fromEntries(
    ['drop_request', 'drop_reply', 'unreadable', 'reject', 'error', 'rate_limit'].flatMap((fault) =>
      CALLS.map((call) => [`${fault}:${call}`, atVenues(fault, call)]),
    ),
  ),
  'lost-on-the-way': lostOnTheWay,
  delay: async (floor, random) => {
    await atVenue('delay', { calls: [random.pick(CALLS)], ms: 1_500 })(floor, random);
  },
  disconnect: atVenue('disconnect', { ms: 1_500 }),
  halt: async (floor) => {
    await arm(floor, { exchange_id: 'venue_b', fault: 'halt', ms: 1_500 });
  },
  duplicate_fill: atVenue('duplicate_fill'),
};
