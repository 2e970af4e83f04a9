import path from 'node:path';
import { planProcesses, type ClusterFacts, type ProcessPlan } from '#apps/launcher/processes.js';
import type { MachineAbilities } from '../machine.js';
import type { Brokers } from './brokers.js';
import { FakedTime } from './faked-time.js';
import type { Wires } from './wires.js';

export const OWNERS = ['owner-0', 'owner-1', 'owner-2'];
export const GATEWAYS = ['gateway-0', 'gateway-1'];
export const PROJECTORS = ['projector-0', 'projector-1'];
export const PROCESSES = [...OWNERS, ...GATEWAYS, ...PROJECTORS, 'settler-0'];
/** Processes that use journals on brokers. */
export const JOURNAL_USERS = [...OWNERS, ...GATEWAYS, ...PROJECTORS];

export const TOPIC_PREFIX = 'faults.journal.';
const ALIASES: Readonly<Record<string, string>> = {
  'projector-0': 'projector',
  'projector-1': 'projector',
  'settler-0': 'settler',
};

export interface PlanPlace {
  readonly folder: string;
  readonly wires: Wires;
  readonly brokers: Brokers | undefined;
  readonly machine: MachineAbilities;
  readonly facts: ClusterFacts;
  readonly databasePort: number;
  readonly ownerPorts: readonly number[];
  /** By process name. */
  readonly inspectorPorts: ReadonlyMap<string, number>;
  readonly env: Readonly<Record<string, string>>;
}

export interface Planned {
  readonly plans: readonly ProcessPlan[];
  readonly times: ReadonlyMap<string, FakedTime>;
}

/** The launcher's plan with a second projector, where each process reaches the others through its own wires. */
export async function planThroughWires(place: PlanPlace): Promise<Planned> {
  const times = new Map<string, FakedTime>();
  const { fakedTime } = place.machine;
  for (const name of fakedTime === undefined ? [] : OWNERS) {
    times.set(name, new FakedTime(fakedTime ?? '', path.join(place.folder, `${name}.time`)));
  }
  const plans: ProcessPlan[] = [];
  for (const name of PROCESSES) plans.push(await planOf(name, place, times.get(name)));
  return { plans, times };
}

async function planOf(name: string, place: PlanPlace, time: FakedTime | undefined): Promise<ProcessPlan> {
  const { wires, brokers, facts, databasePort, ownerPorts, inspectorPorts, env } = place;
  const wirePort = await wires.lay(name, 'postgres', databasePort);
  const throughWire = (url: string): string => Object.assign(new URL(url), { port: String(wirePort) }).href;
  const ownerUrls: string[] = [];
  for (const [shard, port] of ownerPorts.entries()) {
    const isOwn = name === `owner-${shard}` || PROJECTORS.includes(name);
    ownerUrls.push(`http://127.0.0.1:${isOwn ? port : await wires.lay(name, `owner-${shard}`, port)}`);
  }
  const databases = Object.fromEntries(
    Object.entries(facts.databases).map(([role, url]) => [role, throughWire(url)]),
  );
  const seen = { ...facts, databases, internalUrls: { owner: ownerUrls } };
  const plan = planProcesses(seen).find((each) => each.name === (ALIASES[name] ?? name));
  if (plan === undefined) throw new Error(`the launcher plans no ${name}`);
  const kafka =
    brokers === undefined || !JOURNAL_USERS.includes(name)
      ? {}
      : { KAFKA_BROKERS: brokers.addressesFor(name).join(','), KAFKA_TOPIC_PREFIX: TOPIC_PREFIX };
  const inspector = { NODE_OPTIONS: `--inspect-port=${inspectorPorts.get(name) ?? 0}` };
  return { ...plan, name, env: { ...plan.env, ...env, ...kafka, ...inspector, ...time?.env } };
}
