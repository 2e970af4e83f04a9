import type { Environment } from '#libs/platform/settings/config.js';
import { settings } from './config.js';
import { kindRules, type ProcessPlan } from './processes.js';

/** Settings of the cluster, whoever of it reads them. */
const ALL_SETTINGS = new Set(
  [settings, ...Object.values(kindRules).map((rules) => rules.settings)].flatMap((definition) =>
    Object.keys(definition),
  ),
);

/**
 * What a process finds in its environment: what the operator has set, and above it what the launcher knows better. A password is in the
 * environment of those who log in with it, and of no other; what is no setting of ours, such as TZ or NODE_OPTIONS, is for all.
 */
export function childEnvironment(env: Environment, plan: ProcessPlan, internalPort: number): Environment {
  const own = kindRules[plan.kind].settings;
  const inherited = Object.entries(env).filter(
    ([name]) => !ALL_SETTINGS.has(name) || Object.hasOwn(own, name),
  );
  return {
    ...Object.fromEntries(inherited),
    SOTTO_SUPERVISED: 'true',
    INSTANCE: plan.name,
    INTERNAL_PORT: String(internalPort),
    ...plan.env,
  };
}
