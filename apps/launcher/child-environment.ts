import type { Environment } from '#libs/platform/settings/config.js';
import type { ProcessPlan } from './processes.js';

/**
 * What a process finds in its environment: what the operator has set, and above it what the launcher knows better. A password is in the
 * environment of those who log in with it, and of no other; what is no setting of ours, such as TZ or NODE_OPTIONS, is for all.
 */
export function childEnvironment(env: Environment, plan: ProcessPlan, internalPort: number): Environment {
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => plan.inherits(name))),
    SOTTO_SUPERVISED: 'true',
    INSTANCE: plan.name,
    INTERNAL_PORT: String(internalPort),
    ...plan.env,
  };
}
