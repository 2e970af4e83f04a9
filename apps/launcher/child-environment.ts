import type { Environment } from '#libs/platform/config.js';
import type { ProcessPlan } from './processes.js';

/** Names of the launcher's own settings that mean something else, or nothing, to its children. */
const NOT_PASSED_ON = new Set([
  'PORT',
  'LISTEN_HOST',
  'DATABASE_URL',
  'LOAD_ACCOUNTS',
  'GATEWAYS',
  'DATA_DIR',
]);

/** What a process finds in its environment: what the operator has set, and above it what the launcher knows better. */
export function childEnvironment(env: Environment, plan: ProcessPlan, internalPort: number): Environment {
  const inherited = Object.entries(env).filter(([name]) => !NOT_PASSED_ON.has(name));
  return {
    ...Object.fromEntries(inherited),
    SOTTO_SUPERVISED: 'true',
    INSTANCE: plan.name,
    INTERNAL_PORT: String(internalPort),
    ...plan.env,
  };
}
