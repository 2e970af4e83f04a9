import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../simulator/kernel/random.js';
import type { TcpProxy } from '#libs/testing/network/tcp-proxy.js';
import { connectionsTo } from '../installation/connections.js';
import type { Installation } from '../installation/installation.js';
import { whereItIsSeen, type InjectedFaultKind } from './fault-kind.js';

/** Which process connects to which. */
const PAIRS: readonly (readonly [string, string])[] = [
  ['crowd', 'gateway'],
  ['gateway', 'owner'],
  ['owner', 'owner'],
  ['settler', 'owner'],
  ['gateway', 'postgres'],
  ['owner', 'postgres'],
  ['projector', 'postgres'],
  ['settler', 'postgres'],
  ['gateway', 'broker'],
  ['owner', 'broker'],
  ['projector', 'broker'],
  ['broker', 'broker'],
];
const OUTAGE_MS = 30_000;
const LOOK_EVERY_MS = 20;

type Deed = (proxies: readonly TcpProxy[], random: Random) => Promise<void>;

const DEEDS: Readonly<Record<string, Deed>> = {
  cut: async (proxies, random) => {
    for (let times = random.between(1, 5); times > 0; times -= 1) {
      for (const proxy of proxies) proxy.cut();
      await sleep(random.between(20, 600));
    }
  },
  refuse: async (proxies, random) => {
    for (const proxy of proxies) {
      proxy.refuse();
      proxy.cut();
    }
    await sleep(random.between(500, 8_000));
  },
  // Connections that have lost bytes stay silent for good: their ends must notice.
  'half-open': async (proxies, random) => {
    const direction = random.pick(['to-server', 'to-client'] as const);
    for (const proxy of proxies) proxy.blackhole(direction);
    await sleep(random.between(200, 5_000));
  },
  stall: async (proxies, random) => {
    const direction = random.pick(['to-server', 'to-client'] as const);
    for (const proxy of proxies) proxy.stall(direction);
    await sleep(random.between(200, 9_000));
  },
  delay: async (proxies, random) => {
    for (const proxy of proxies) proxy.delay(random.between(20, 300));
    await sleep(random.between(2_000, 6_000));
  },
};

const ofPairs: readonly InjectedFaultKind[] = Object.entries(DEEDS).flatMap(([what, deed]) =>
  PAIRS.map(([from, to]) => ({
    name: `${what}:${from}-${to}`,
    missing: (site) => {
      if (site.wires.between(from, to).length > 0) return whereItIsSeen();
      return site.brokers === undefined ? 'the journals are in PostgreSQL' : 'there is one broker';
    },
    strike: async (site, random) => {
      const all = site.wires.between(from, to);
      // One or all.
      const chosen = random.chance(0.7) ? [random.pick(all)] : all;
      const proxies = chosen.map(({ proxy }) => proxy);
      await whileConnected(proxies, () => deed(proxies, random));
    },
  })),
);

const outage: InjectedFaultKind = {
  name: 'outage:postgres',
  missing: whereItIsSeen,
  strike: async (site) => {
    const proxies = everythingTo(site, 'postgres');
    await whileConnected(proxies, async () => {
      for (const proxy of proxies) {
        proxy.refuse();
        proxy.cut();
      }
      await sleep(OUTAGE_MS);
    });
  },
};

export const wireFaults: readonly InjectedFaultKind[] = [...ofPairs, outage];

/** The fault counts only if the wires carry connections before and while they are broken. */
export async function whileConnected(proxies: readonly TcpProxy[], deed: () => Promise<void>): Promise<void> {
  const ports = proxies.map(({ port }) => port);
  let isUsed = connectionsTo(ports) > 0;
  const looking = setInterval(() => (isUsed ||= connectionsTo(ports) > 0), LOOK_EVERY_MS);
  try {
    await deed();
  } finally {
    clearInterval(looking);
    for (const proxy of proxies) proxy.heal();
  }
  if (!isUsed) throw new Error('there was no connection');
}

function everythingTo(site: Installation, to: string): TcpProxy[] {
  const froms = new Set(PAIRS.map(([from]) => from));
  return [...froms].flatMap((from) => site.wires.between(from, to).map(({ proxy }) => proxy));
}
