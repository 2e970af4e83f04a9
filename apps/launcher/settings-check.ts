import type { Environment } from '#libs/platform/settings/config.js';
import { SERVICE_NAMES } from '#libs/platform/processes/catalogue.js';
import { ConfigFault } from '#libs/platform/process/start-fault.js';
import { sharedLogin } from './database-logins.js';
import { loadLauncherConfig, OWNERS, type LauncherConfig } from './config.js';
import { childEnvironment, type ClusterFacts, type PlanProcesses } from './processes.js';
import { makeSecrets } from './secrets.js';

const SOME_PORT = 1;

/** Stands for what the launcher chooses itself, which is always valid. */
const SOME_FACTS: ClusterFacts = {
  databases: sharedLogin('postgres://sotto@127.0.0.1/sotto'),
  secrets: makeSecrets(),
  limitsFactor: 1,
  journalPath: undefined,
  listenHost: '127.0.0.1',
  services: SERVICE_NAMES,
  publicPorts: { gateway: [SOME_PORT], execution: [SOME_PORT], data: [SOME_PORT] },
  internalUrls: {
    owner: Array.from({ length: OWNERS }, (_, shard) => `http://127.0.0.1:${SOME_PORT + shard}`),
    cell: [`http://127.0.0.1:${SOME_PORT}`],
    executor: [`http://127.0.0.1:${SOME_PORT}`],
  },
  trading: {
    signerSocket: '/signer.sock',
    practiceFolder: '/practice',
    adminPort: SOME_PORT,
    venueBPort: SOME_PORT + 1,
    venueEPort: SOME_PORT + 2,
  },
  data: {
    ...{
      dataPort: SOME_PORT,
      mdPort: SOME_PORT + 1,
      streamPort: SOME_PORT + 2,
      liveReadsPort: SOME_PORT + 3,
    },
    ...{ recordedFolder: '/recorded', fedVenues: [] },
  },
};

/**
 * Returns the launcher's settings if they and those of all its processes are valid. Reports all faults at
 * once, so that an operator does not find them one start at a time.
 */
export function readSettings(env: Environment, plan: PlanProcesses): LauncherConfig {
  const own = ownSettings(env);
  const facts = own.config === undefined ? SOME_FACTS : { ...SOME_FACTS, ...factsOf(own.config) };
  const faults = new Set(own.faults);
  for (const process of plan(facts)) {
    for (const fault of process.faults(childEnvironment(env, process, SOME_PORT))) faults.add(fault);
  }
  if (own.config === undefined || faults.size > 0) throw new ConfigFault([...faults]);
  return own.config;
}

function factsOf({ LIMITS_FACTOR, LISTEN_HOST, SERVICES }: LauncherConfig): Partial<ClusterFacts> {
  return { limitsFactor: LIMITS_FACTOR, listenHost: LISTEN_HOST, services: SERVICES };
}

function ownSettings(env: Environment): { config?: LauncherConfig; faults: readonly string[] } {
  try {
    return { config: loadLauncherConfig(env), faults: [] };
  } catch (error) {
    if (error instanceof ConfigFault) return { faults: error.faults };
    throw error;
  }
}
