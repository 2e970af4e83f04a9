import {
  PROCESSES,
  processNames,
  type ProcessKind,
  type ServiceName,
} from '#libs/platform/processes/catalogue.js';
import type { Environment } from '#libs/platform/settings/config.js';
import { settings as launcherSettings } from './config.js';
import type { DatabaseLogins } from './database-logins.js';
import { loadPrograms, type StartableProgram } from './programs.js';
import type { ClusterSecrets } from './secrets.js';

/** What is known before the first process starts and does not change while the cluster runs. */
export interface ClusterFacts {
  readonly services: readonly ServiceName[];
  readonly databases: DatabaseLogins;
  readonly secrets: ClusterSecrets;
  readonly limitsFactor: number;
  /** The folder whose disk holds the journal. Undefined for a database elsewhere. */
  readonly journalPath: string | undefined;
  readonly listenHost: string;
  /**
   * By kind, one port for each of its processes. A kind without an entry has as many processes as the
   * catalogue says.
   */
  readonly publicPorts: Readonly<Record<string, readonly number[]>>;
  /** Base URLs of internal listeners: by kind, in the order of its processes. */
  readonly internalUrls: Readonly<Record<string, readonly string[]>>;
  /** Absent where order execution does not run. */
  readonly trading?: TradingPlaces;
  /** Absent where market data does not run. */
  readonly data?: DataPlaces;
}

/** Ports of market data, and where its data comes from. */
export interface DataPlaces {
  readonly dataPort: number;
  readonly mdPort: number;
  readonly streamPort: number;
  readonly liveReadsPort: number;
  readonly recordedFolder: string;
  /** Letters of the venues that have a source, so that live reads of them are answered. */
  readonly fedVenues: readonly string[];
}

/** The socket of the signer, and the ports of the practice venues. */
export interface TradingPlaces {
  readonly signerSocket: string;
  readonly practiceFolder: string;
  readonly adminPort: number;
  readonly venueBPort: number;
  readonly venueEPort: number;
}

/** One process of the cluster, without the settings that every process gets. */
export interface ProcessPlan {
  readonly name: string;
  readonly kind: ProcessKind;
  /** Relative to dist/apps. */
  readonly script: string;
  readonly env: Environment;
  /** Settings that the operator may override. */
  readonly defaults: Environment;
  /** Whether the process gets this setting from the operator's environment. */
  readonly inherits: (setting: string) => boolean;
  /** What is wrong with this environment, one line each. */
  readonly faults: (env: Environment) => readonly string[];
  /** The public address, if it has one. */
  readonly url?: string;
}

export type PlanProcesses = (facts: ClusterFacts) => readonly ProcessPlan[];

const PROGRAMS = await loadPrograms(PROCESSES);

export function planProcesses(
  facts: ClusterFacts,
  programs: readonly StartableProgram[] = PROGRAMS,
): readonly ProcessPlan[] {
  const known = new Set(
    [launcherSettings, ...programs.map(({ settings }) => settings)].flatMap((each) => Object.keys(each)),
  );
  return programs.flatMap((program) => {
    const { kind, settings, faults } = program;
    if (!kind.services.some((service) => facts.services.includes(service))) return [];
    const ports = facts.publicPorts[kind.name];
    const count = facts.internalUrls[kind.name]?.length ?? ports?.length ?? kind.replicas.local;
    return processNames(kind, count).map((name, index) => {
      const port = ports?.[index];
      return {
        name,
        kind,
        script: `${kind.app}/main.js`,
        env: read(program, environmentOf(program, facts, index, port)),
        defaults: read(program, defaultsOf(program, facts)),
        inherits: (setting: string) => Object.hasOwn(settings, setting) || !known.has(setting),
        faults,
        ...(port === undefined ? {} : { url: publicUrl(facts.listenHost, port) }),
      };
    });
  });
}

function environmentOf(
  { kind }: StartableProgram,
  facts: ClusterFacts,
  index: number,
  port: number | undefined,
): Environment {
  const { databases, secrets, internalUrls, trading, data } = facts;
  const textOf = (port: number | undefined): string | undefined =>
    port === undefined ? undefined : String(port);
  return {
    DATABASE_URL: kind.databaseRole === undefined ? undefined : databases[kind.databaseRole],
    OWNER_URLS: internalUrls.owner?.join(','),
    CELL_URLS: internalUrls.cell?.join(','),
    EXECUTOR_URL: internalUrls.executor?.[0],
    SERVICE_TOKEN: secrets.service_token,
    LIMITS_FACTOR: String(facts.limitsFactor),
    ID_KEY: secrets.id_key,
    JOURNAL_PATH: facts.journalPath,
    SHARD: String(index),
    CELL: String(index),
    CELLS: textOf(internalUrls.cell?.length),
    LISTEN_HOST: facts.listenHost,
    PORT: textOf(port),
    EXECUTION_PORT: textOf(port),
    SESSION_KEK: secrets.session_kek,
    STREAM_KEYS: secrets.stream_key,
    AUDIT_KEY: secrets.audit_key,
    AUDIT_SIGNING_KEY: secrets.audit_signing_key,
    API_KEY_SECRET: secrets.api_key_secret,
    SIGNER_KEY: secrets.signer_key,
    SIGNER_SOCKET: trading?.signerSocket,
    PRACTICE_DATA_DIR: trading?.practiceFolder,
    PRACTICE_ADMIN_PORT: textOf(trading?.adminPort),
    PRACTICE_B_PORT: textOf(trading?.venueBPort),
    PRACTICE_E_PORT: textOf(trading?.venueEPort),
    DATA_PORT: textOf(data?.dataPort),
    MD_PORT: textOf(data?.mdPort),
    STREAM_PORT: textOf(data?.streamPort),
    LIVE_READS_PORT: textOf(data?.liveReadsPort),
    ...kind.settings,
  };
}

/** The practice venues replace the real ones until the operator sets those. */
function defaultsOf({ kind }: StartableProgram, { trading, data, secrets }: ClusterFacts): Environment {
  return {
    ADMIN_SECRETS: secrets.admin_secret,
    ...(data === undefined ? {} : { RECORDED_DIR: data.recordedFolder }),
    ...(trading === undefined ? {} : practiceAddresses(trading)),
    ...(kind.name === 'data' && data !== undefined ? liveReadAddresses(data) : {}),
  };
}

function practiceAddresses({ venueBPort, venueEPort, adminPort }: TradingPlaces): Environment {
  const at = (port: number): string => `http://127.0.0.1:${port}`;
  const venueB = `${at(venueBPort)}/trade-api/v2`;
  return {
    PRACTICE_CREDIT: '1000',
    ...{ VENUE_B_URL: venueB, VENUE_B_FEED_URL: venueB, VENUE_B_ACCOUNTS_URL: at(adminPort) },
    ...{ VENUE_E_URL: at(venueEPort), VENUE_E_FEED_URL: at(venueEPort) },
  };
}

/** A venue without a source has no address: the practice venues do not answer live reads. */
function liveReadAddresses({ liveReadsPort, fedVenues }: DataPlaces): Environment {
  const addresses: Record<string, string | undefined> = { VENUE_B_URL: undefined, VENUE_E_URL: undefined };
  for (const venue of fedVenues) {
    addresses[`VENUE_${venue.toUpperCase()}_URL`] = `http://127.0.0.1:${liveReadsPort}/${venue}`;
  }
  return addresses;
}

/** Only the settings that the process reads, so that no secret reaches a process without need. */
function read({ settings }: StartableProgram, values: Environment): Environment {
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => value !== undefined && Object.hasOwn(settings, name)),
  );
}

/**
 * The environment of a process: the operator's settings, overridden by the launcher's. A password reaches
 * only the processes that use it; variables such as TZ reach all.
 */
export function childEnvironment(env: Environment, plan: ProcessPlan, internalPort: number): Environment {
  return {
    ...plan.defaults,
    ...Object.fromEntries(Object.entries(env).filter(([name]) => plan.inherits(name))),
    SOTTO_SUPERVISED: 'true',
    INSTANCE: plan.name,
    INTERNAL_PORT: String(internalPort),
    ...plan.env,
  };
}

const ANY_ADDRESS = new Set(['0.0.0.0', '::']);

export function publicUrl(host: string, port: number): string {
  if (ANY_ADDRESS.has(host)) return `http://127.0.0.1:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
