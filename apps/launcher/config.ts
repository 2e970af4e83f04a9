import { z } from 'zod';
import {
  type Config,
  defineConfig,
  type Environment,
  loadConfig,
  type SettingsRule,
} from '#libs/platform/settings/config.js';
import {
  kindNamed,
  PROCESSES,
  type ProcessKind,
  SERVICE_NAMES,
  type ServiceName,
} from '#libs/platform/processes/catalogue.js';
import { limitsHoldUnlessLoopback } from '#libs/platform/settings/process-settings.js';
import {
  type FromText,
  integer,
  nonEmpty,
  port,
  postgresUrl,
} from '#libs/platform/settings/setting-types.js';

const MAX_GATEWAYS = 16;
const LAST_PORT = 65_535;
const MAX_LOAD_ACCOUNTS = 100_000;
const FIRST_PORT = kindNamed('gateway').publicPort.base;

export const OWNERS = kindNamed('owner').replicas.local;
const DEFAULT_CELLS = kindNamed('cell').replicas.local;

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

function serviceList(): FromText<readonly ServiceName[]> {
  return z.string().transform((text, context) => {
    const named = text.split(',').map((name) => name.trim());
    const known = SERVICE_NAMES.filter((name) => named.includes(name));
    if (known.length === named.length) return known;
    context.addIssue({
      code: 'custom',
      message: `it must name each of these at most once: ${SERVICE_NAMES.join(', ')}`,
    });
    return z.NEVER;
  });
}

export const settings = defineConfig({
  PORT: {
    schema: port(),
    describe: 'Port of the first gateway; further gateways take the ports above it',
    default: String(FIRST_PORT),
  },
  EXECUTION_PORT: {
    schema: port().optional(),
    describe: 'Port of order execution; by default PORT + 10',
  },
  DATA_PORT: {
    schema: port().optional(),
    describe: 'Port of market data; by default the first free port from PORT + 20 on',
  },
  MD_PORT: {
    schema: port().optional(),
    describe: 'Port of the companion of market data; by default the next free port',
  },
  STREAM_PORT: {
    schema: port().optional(),
    describe: 'Port of the stream of market data; by default the next free port',
  },
  SERVICES: {
    schema: serviceList(),
    describe: 'Services to start, separated by commas; logins and the vault come with each of them',
    default: SERVICE_NAMES.join(','),
  },
  CELLS: {
    schema: integer(1, 16),
    describe: 'Number of cells; fixed by the first start on a database',
    default: String(DEFAULT_CELLS),
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
      'PostgreSQL 15 or newer, instead of the embedded one; its role must be allowed to create databases',
    secret: true,
  },
  LOAD_ACCOUNTS: {
    schema: loadAccounts().optional(),
    describe: 'For measuring: more demo accounts, such as makers:512,originators:64',
  },
  LIMITS_FACTOR: {
    schema: integer(1, 1_000_000),
    describe: 'Multiplies every rate limit and ACTIVE_AUCTION_LIMIT; only for measuring on loopback',
    default: '1',
  },
});

export type LauncherConfig = Config<typeof settings>;

const rules: readonly SettingsRule<typeof settings>[] = [
  portsSuffice,
  limitsHoldUnlessLoopback('LISTEN_HOST'),
];

function portsSuffice(config: LauncherConfig): string | undefined {
  const ports = fixedPortsOf(config);
  const configured = givenDataPorts(config);
  if (new Set(configured).size < configured.length)
    return 'DATA_PORT, MD_PORT and STREAM_PORT must be different ports';
  const others = Object.values(publicPortsOf(config)).flat();
  const twice = configured.find((each) => others.includes(each));
  if (twice !== undefined) return `port ${twice} is set for market data, but another process uses it`;
  const { GATEWAYS, PORT, EXECUTION_PORT } = config;
  if (Math.max(...ports) > LAST_PORT) {
    return `GATEWAYS=${GATEWAYS} is wrong: there are not that many ports above ${PORT}`;
  }
  if (new Set(ports).size === ports.length) return undefined;
  const own = EXECUTION_PORT ?? PORT + kindNamed('execution').publicPort.base - FIRST_PORT;
  return `GATEWAYS=${GATEWAYS} is wrong: one gateway would use port ${own} of order execution; set EXECUTION_PORT`;
}

export function loadLauncherConfig(env: Environment): LauncherConfig {
  return loadConfig(settings, env, rules);
}

type PortSettings = Pick<LauncherConfig, 'PORT' | 'GATEWAYS' | 'EXECUTION_PORT' | 'SERVICES'>;
export type DataPortSettings = Pick<LauncherConfig, 'DATA_PORT' | 'MD_PORT' | 'STREAM_PORT' | 'SERVICES'>;

/** Ports of market data that are set. The others are chosen at the start. */
export function givenDataPorts({ SERVICES, DATA_PORT, MD_PORT, STREAM_PORT }: DataPortSettings): number[] {
  if (!SERVICES.includes('data')) return [];
  return [DATA_PORT, MD_PORT, STREAM_PORT].filter((configured) => configured !== undefined);
}

/** All ports that are known before anything starts. */
export function fixedPortsOf(config: PortSettings & DataPortSettings): number[] {
  return [...Object.values(publicPortsOf(config)).flat(), ...givenDataPorts(config)];
}

/** By kind of process, without market data: one port for each process. PORT moves all kinds alike. */
export function publicPortsOf(
  { PORT, GATEWAYS, EXECUTION_PORT, SERVICES }: PortSettings,
  kinds: readonly ProcessKind[] = PROCESSES,
): Readonly<Record<string, readonly number[]>> {
  const ports = kinds.flatMap(({ name, publicPort, replicas, services }): [string, number[]][] => {
    const isStarted = services.some((service) => SERVICES.includes(service));
    if (publicPort === undefined || name === 'data' || !isStarted) return [];
    const moved = PORT + publicPort.base - FIRST_PORT;
    const first = name === 'execution' ? (EXECUTION_PORT ?? moved) : moved;
    const length = name === 'gateway' ? GATEWAYS : replicas.local;
    return [[name, Array.from({ length }, (_, index) => first + index * publicPort.step)]];
  });
  return Object.fromEntries(ports);
}
