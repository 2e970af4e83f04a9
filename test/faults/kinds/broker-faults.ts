import { setTimeout as sleep } from 'node:timers/promises';
import type { Broker } from '#libs/platform/embedded-kafka/broker.js';
import type { Random } from '../../simulator/kernel/random.js';
import type { Brokers } from '../installation/brokers.js';
import type { Installation } from '../installation/installation.js';
import { whereItIsSeen, type InjectedFaultKind } from './fault-kind.js';
import { PAUSE_MS } from './process-faults.js';
import { mustBeThere, paused } from './struck.js';
import { whileConnected } from './wire-faults.js';

const AWAY_MS = { least: 500, most: 8_000 };
/** Well below the time after which the other brokers go on without a silent one. */
const UNHEARD_MS = { least: 500, most: 3_000 };

export const brokerFaults: readonly InjectedFaultKind[] = [
  { name: 'kill:broker', missing: withoutBrokers, strike: killBroker },
  { name: 'kill:broker-unheard', missing: withoutOthers, strike: killUnheard },
  { name: 'pause:broker', missing: whereTheyAreSeen, strike: pauseBroker },
];

function withoutBrokers({ brokers }: Installation): string | undefined {
  return brokers === undefined ? 'the journals are in PostgreSQL' : undefined;
}

function whereTheyAreSeen(site: Installation): string | undefined {
  return withoutBrokers(site) ?? whereItIsSeen();
}

function withoutOthers(site: Installation): string | undefined {
  return whereTheyAreSeen(site) ?? (site.brokers?.all.length === 1 ? 'there is one broker' : undefined);
}

async function killBroker({ brokers }: Installation, random: Random): Promise<void> {
  await killed(random.pick(brokers?.all ?? []));
  await revived(brokers, random);
}

/** What only this broker has is lost; it must not have acknowledged any of it. */
async function killUnheard({ brokers, wires }: Installation, random: Random): Promise<void> {
  const all = brokers?.all ?? [];
  const broker = random.pick(all);
  const name = `broker-${all.indexOf(broker) + 1}`;
  const ways = wires.between('broker', 'broker').filter(({ to }) => to === name);
  const proxies = ways.map(({ proxy }) => proxy);
  await whileConnected(proxies, async () => {
    for (const proxy of proxies) proxy.blackhole('to-client');
    await sleep(random.between(UNHEARD_MS.least, UNHEARD_MS.most));
    await killed(broker);
  });
  await revived(brokers, random);
}

function pauseBroker({ brokers }: Installation, random: Random): Promise<void> {
  const { pid } = random.pick(brokers?.all ?? []);
  return paused([mustBeThere(pid)], random.between(PAUSE_MS.least, PAUSE_MS.most));
}

async function killed(broker: Broker): Promise<void> {
  mustBeThere(broker.pid);
  broker.signal('SIGKILL');
  await broker.gone();
}

async function revived(brokers: Brokers | undefined, random: Random): Promise<void> {
  await sleep(random.between(AWAY_MS.least, AWAY_MS.most));
  await brokers?.untilAllRun();
}
