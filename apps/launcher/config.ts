import { z } from 'zod';
import {
  defineConfig,
  loadConfig,
  type Config,
  type Environment,
  type SettingsRule,
} from '#libs/platform/settings/config.js';
import { kindNamed, PROCESSES, type ProcessKind } from '#libs/platform/processes/catalogue.js';
import { limitsHoldUnlessLoopback } from '#libs/platform/settings/limits-factor.js';
import {
  integer,
  nonEmpty,
  port,
  postgresUrl,
  type FromText,
} from '#libs/platform/settings/setting-types.js';

const MAX_GATEWAYS = 16;
const LAST_PORT = 65_535;
const MAX_LOAD_ACCOUNTS = 100_000;
const FIRST_PORT = kindNamed('gateway').publicPort.base;

export const OWNERS = kindNamed('owner').replicas.local;

export interface LoadAccounts {
  readonly makers: number;
  readonly originators: number;
}

function loadAccounts(): FromText<LoadAccounts> {
  const message = `it must look like makers:512,originators:64, with at most ${MAX_LOAD_ACCOUNTS} of each`;
  return z.string().transform((text, context) => {
    const counts: { makers?: number; originators?: number } = {};
    for (const part of text.split(',')) {
      const [, kind, digits] = /^(makers|originators):(\d{1,6})$/.exec(part.trim()) ?? [];
      const count = Number(digits);
      if ((kind !== 'makers' && kind !== 'originators') || count > MAX_LOAD_ACCOUNTS) {
        context.addIssue({ code: 'custom', message });
        return z.NEVER;
      }
      if (counts[kind] !== undefined) {
        context.addIssue({ code: 'custom', message: `${kind} are given twice` });
        return z.NEVER;
      }
      counts[kind] = count;
    }
    return { makers: counts.makers ?? 0, originators: counts.originators ?? 0 };
  });
}

export const settings = defineConfig({
  PORT: {
    schema: port(),
    describe: 'Port of the first gateway; further ones take the ports above it',
    default: String(FIRST_PORT),
  },
  LISTEN_HOST: { schema: nonEmpty(), describe: 'Address on which the gateways listen', default: '127.0.0.1' },
  GATEWAYS: { schema: integer(1, MAX_GATEWAYS), describe: 'Number of gateways', default: '1' },
  DATA_DIR: {
    schema: nonEmpty(),
    describe: 'Folder for the database, the secrets and the logs',
    default: '.data',
  },
  DATABASE_URL: {
    schema: postgresUrl().optional(),
    describe:
      'PostgreSQL 15 or newer to use instead of the embedded one; its role must be allowed to create databases',
    secret: true,
  },
  LOAD_ACCOUNTS: {
    schema: loadAccounts().optional(),
    describe: 'For measuring: further demo accounts, such as makers:512,originators:64',
  },
  LIMITS_FACTOR: {
    schema: integer(1, 1_000_000),
    describe: 'For measuring, on loopback only: multiplies every rate limit and ACTIVE_AUCTION_LIMIT',
    default: '1',
  },
});

export type LauncherConfig = Config<typeof settings>;

const rules: readonly SettingsRule<typeof settings>[] = [
  portsSuffice,
  limitsHoldUnlessLoopback('LISTEN_HOST'),
];

function portsSuffice({ PORT, GATEWAYS }: LauncherConfig): string | undefined {
  const ports = Object.values(publicPortsOf({ PORT, GATEWAYS })).flat();
  if (Math.max(...ports) <= LAST_PORT) return undefined;
  return `GATEWAYS=${GATEWAYS} is wrong: there are not that many ports above ${PORT}`;
}

export function loadLauncherConfig(env: Environment): LauncherConfig {
  return loadConfig(settings, env, rules);
}

/** By kind, one for each of its processes. PORT moves all kinds alike. */
export function publicPortsOf(
  { PORT, GATEWAYS }: Pick<LauncherConfig, 'PORT' | 'GATEWAYS'>,
  kinds: readonly ProcessKind[] = PROCESSES,
): Readonly<Record<string, readonly number[]>> {
  const ports = kinds.flatMap(({ name, publicPort, replicas }): [string, number[]][] => {
    if (publicPort === undefined) return [];
    const first = PORT + publicPort.base - FIRST_PORT;
    const length = name === 'gateway' ? GATEWAYS : replicas.local;
    return [[name, Array.from({ length }, (_, index) => first + index * publicPort.step)]];
  });
  return Object.fromEntries(ports);
}
