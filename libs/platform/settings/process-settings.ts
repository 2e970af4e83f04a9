import {
  type Config,
  type ConfigDefinition,
  defineConfig,
  type Environment,
  loadConfig,
  type SettingsRule,
} from './config.js';
import { createLogger, LOG_LEVELS } from '../process/log.js';
import { internalHost } from '../internal-server/internal-host.js';
import { flag, integer, listOf, nonEmpty, oneOf, secret } from './setting-types.js';
import { ConfigFault } from '../process/start-fault.js';

/** Settings of every process of a cluster. Apps include them in their own definitions. */
export const processSettings = defineConfig({
  INSTANCE: { schema: nonEmpty(), describe: 'Name of this process in logs and metrics', default: 'sotto' },
  LOG_LEVEL: { schema: oneOf(...LOG_LEVELS), describe: 'Lowest severity that is logged', default: 'info' },
  INTERNAL_HOST: {
    schema: internalHost(),
    describe: 'Address or network interface of the internal listener (health, metrics, owner link)',
    default: '127.0.0.1',
  },
  INTERNAL_PORT: {
    schema: integer(0, 65_535),
    describe: 'Port of the internal listener; 0 takes any free port',
    default: '0',
  },
  METRICS_TOKENS: {
    schema: listOf(secret(32)).optional(),
    describe: 'Bearer tokens that let other machines read /metrics, separated by commas; without it none can',
    secret: true,
  },
  SOTTO_SUPERVISED: {
    schema: flag(),
    describe: 'Standard input is a pipe from the launcher; the process stops when it ends',
    default: 'false',
  },
});

/** Loads the settings of an app. Wrong settings end the process with a log line for each and exit code 78. */
export function loadConfigOrExit<D extends ConfigDefinition>(
  app: string,
  definition: D,
  env: Environment,
  rules: readonly SettingsRule<D>[] = [],
): Config<D> {
  try {
    return loadConfig(definition, env, rules);
  } catch (error) {
    if (!(error instanceof ConfigFault)) throw error;
    const log = createLogger({ name: app, level: 'info' });
    for (const fault of error.faults) log.fatal({ exit_code: error.exitCode }, fault);
    process.exit(error.exitCode);
  }
}

const LOOPBACK = /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|localhost)$/;

/**
 * LIMITS_FACTOR raises limits for measurements. This rule allows it only if all listeners, whose settings are `hosts`, are on
 * loopback.
 */
export function limitsHoldUnlessLoopback<Host extends string>(
  ...hosts: readonly Host[]
): (config: Readonly<Record<Host, string>> & { readonly LIMITS_FACTOR: number }) => string | undefined {
  return (config) => {
    if (config.LIMITS_FACTOR === 1) return undefined;
    const reachable = hosts.find((host) => !LOOPBACK.test(config[host]));
    if (reachable === undefined) return undefined;
    return `LIMITS_FACTOR=${config.LIMITS_FACTOR} is wrong: limits hold unless ${reachable} is a loopback address`;
  };
}
