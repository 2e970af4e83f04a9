import { settlerConfig, settlerRules } from '#apps/settler/config.js';
import { gatewayConfig, gatewayRules } from '#apps/gateway/config.js';
import { ownerConfig, ownerRules } from '#apps/owner/config.js';
import { projectorConfig, projectorRules } from '#apps/projector/config.js';
import { settingsFaults, type ConfigDefinition, type Environment } from '#libs/platform/settings/config.js';
import type { DatabaseLogins } from './database-logins.js';
import type { ProcessKind } from './process-kind.js';
import type { ClusterSecrets } from './secrets.js';

export const OWNERS = 3;

/** What is known before the first process starts, and stays so for the life of the cluster. */
export interface ClusterFacts {
  readonly databases: DatabaseLogins;
  readonly secrets: ClusterSecrets;
  readonly limitsFactor: number;
  /** The folder whose disk holds the journal; undefined where a database elsewhere does. */
  readonly journalPath: string | undefined;
  readonly listenHost: string;
  /** One for each gateway. */
  readonly gatewayPorts: readonly number[];
  /** Base URLs of the internal listeners of owner 0, 1 and 2. */
  readonly ownerUrls: readonly string[];
}

/** One process of the cluster, before the launcher adds what every process gets. */
export interface ProcessPlan {
  readonly name: string;
  readonly kind: ProcessKind;
  /** Relative to dist/apps. */
  readonly script: string;
  readonly env: Environment;
  /** What the process would find wrong with this environment, in one line each. */
  readonly faults: (env: Environment) => readonly string[];
  /** Where the public reaches it. */
  readonly url?: string;
}

export interface KindRules {
  /** What it reads from its environment. */
  readonly settings: ConfigDefinition;
  /** Kinds of a lower number stop first; equal ones stop together. */
  readonly stopOrder: number;
  /** After this they are killed. The numbers of the stages add up to less than the ten seconds of the whole stop. */
  readonly stopWithinMs: number;
}

/** Edges first, so that nothing new comes in; the owners last, because the others still report to them. */
export const kindRules: Readonly<Record<ProcessKind, KindRules>> = {
  gateway: { settings: gatewayConfig, stopOrder: 1, stopWithinMs: 3_500 },
  settler: { settings: settlerConfig, stopOrder: 2, stopWithinMs: 1_500 },
  projector: { settings: projectorConfig, stopOrder: 3, stopWithinMs: 1_000 },
  owner: { settings: ownerConfig, stopOrder: 4, stopWithinMs: 2_000 },
};

export type PlanProcesses = (facts: ClusterFacts) => readonly ProcessPlan[];

export function planProcesses(facts: ClusterFacts): readonly ProcessPlan[] {
  const database = (kind: ProcessKind): Environment => ({ DATABASE_URL: facts.databases[kind] });
  const owners = {
    OWNER_URLS: facts.ownerUrls.join(','),
    SERVICE_TOKEN: facts.secrets.service_token,
    LIMITS_FACTOR: String(facts.limitsFactor),
  };
  return [
    ...facts.ownerUrls.map((_, shard) =>
      ownerPlan(shard, { ...database('owner'), ...owners, ID_KEY: facts.secrets.id_key }, facts.journalPath),
    ),
    ...facts.gatewayPorts.map((port, index) =>
      gatewayPlan(index, port, facts, { ...database('gateway'), ...owners }),
    ),
    {
      name: 'projector',
      kind: 'projector',
      script: 'projector/main.js',
      env: database('projector'),
      faults: (env) => settingsFaults(projectorConfig, env, projectorRules),
    },
    {
      name: 'settler',
      kind: 'settler',
      script: 'settler/main.js',
      env: { ...database('settler'), ...owners },
      faults: (env) => settingsFaults(settlerConfig, env, settlerRules),
    },
  ];
}

function ownerPlan(shard: number, env: Environment, journalPath: string | undefined): ProcessPlan {
  return {
    name: `owner-${shard}`,
    kind: 'owner',
    script: 'owner/main.js',
    env: {
      ...env,
      ...(journalPath === undefined ? {} : { JOURNAL_PATH: journalPath }),
      SHARD: String(shard),
    },
    faults: (given) => settingsFaults(ownerConfig, given, ownerRules),
  };
}

function gatewayPlan(index: number, port: number, facts: ClusterFacts, env: Environment): ProcessPlan {
  return {
    name: `gateway-${index}`,
    kind: 'gateway',
    script: 'gateway/main.js',
    url: gatewayUrl(facts.listenHost, port),
    env: {
      ...env,
      LISTEN_HOST: facts.listenHost,
      PORT: String(port),
      SESSION_KEK: facts.secrets.session_kek,
      STREAM_KEYS: facts.secrets.stream_key,
      AUDIT_KEY: facts.secrets.audit_key,
      AUDIT_SIGNING_KEY: facts.secrets.audit_signing_key,
    },
    faults: (given) => settingsFaults(gatewayConfig, given, gatewayRules),
  };
}

const EVERYWHERE = new Set(['0.0.0.0', '::']);

function gatewayUrl(host: string, port: number): string {
  if (EVERYWHERE.has(host)) return `http://127.0.0.1:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
