import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { passwordSetting } from '#apps/cli/config.js';
import type { StartableProgram } from '#apps/launcher/programs.js';
import { databaseRoles, processNames } from '#libs/platform/processes/catalogue.js';
import { POD_MONITOR, SCRAPES } from './monitoring.js';
import { ROOT } from './processes.js';

/** A location in a deployment, and whether it has what the catalogue says. */
type Claim = readonly [what: string, holds: boolean];

function gapsIn(claims: readonly Claim[]): string[] {
  return claims.filter(([, holds]) => !holds).map(([what]) => what);
}

interface Composed {
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>>;
}

const COMPOSE = parse(readFileSync(path.join(ROOT, 'docker-compose.yml'), 'utf8'), {
  merge: true,
  maxAliasCount: 1_000,
}) as {
  readonly services: Readonly<Record<string, Composed>>;
};
const NEEDS = { schema: 'migrate', journals: 'kafka' } as const;

/** What docker-compose.yml lacks of the processes of the catalogue. */
export function composeGaps(programs: readonly StartableProgram[]): string[] {
  const migrate = COMPOSE.services.migrate?.environment ?? {};
  const kinds = programs.map(({ kind }) => kind).filter(({ replicas }) => replicas.compose > 0);
  return gapsIn([
    ...databaseRoles(kinds).map((role): Claim => {
      const setting = passwordSetting(role);
      return [`migrate: ${setting}`, setting in migrate];
    }),
    ...kinds.flatMap((kind) =>
      processNames(kind, kind.replicas.compose).flatMap((name, index): Claim[] => {
        const service = COMPOSE.services[name];
        const { command = [], environment = {}, ports = [], depends_on: needs = {} } = service ?? {};
        if (service === undefined) return [[`service ${name}`, false]];
        const { publicPort: port, databaseRole: role } = kind;
        const published = (port?.settings ?? []).map((setting, nth) => {
          const host = (port?.base ?? 0) + index * (port?.step ?? 0) + nth;
          return `127.0.0.1:${host}:${environment[setting] ?? ''}`;
        });
        return [
          [`${name}: command`, command.join(' ') === `node dist/apps/${kind.app}/main.js`],
          [`${name}: INSTANCE`, environment.INSTANCE === name],
          ...Object.entries(kind.settings ?? {}).map(([setting, value]): Claim => [
            `${name}: ${setting}`,
            environment[setting] === value,
          ]),
          ...kind.waitsFor.map((need): Claim => [`${name}: waits for ${need}`, NEEDS[need] in needs]),
          [`${name}: login`, loginIn(environment.DATABASE_URL) === (role && `sotto_${role}`)],
          [`${name}: public ports`, ports.join(' ') === published.join(' ')],
        ];
      }),
    ),
  ]);
}

function loginIn(url: string | undefined): string | undefined {
  return /^postgres:\/\/(\w+):/.exec(url ?? '')?.[1];
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef?: { readonly key: string } };
}

interface Probe {
  readonly httpGet: { readonly path: string };
}

interface Container {
  readonly name: string;
  readonly command: readonly string[];
  readonly env?: readonly Variable[];
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
}

interface Workload {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly resources?: readonly string[];
  readonly spec?: {
    readonly replicas?: number;
    readonly podSelector?: object;
    readonly template?: {
      readonly spec: {
        readonly containers: readonly Container[];
      };
    };
  };
}

const FOLDER = path.join(ROOT, 'deploy/kubernetes');
const MANIFESTS = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.yaml'))
  .flatMap((file) => parseAllDocuments(readFileSync(path.join(FOLDER, file), 'utf8')))
  .map((document) => document.toJS() as Workload);

/** For each network policy, the setting whose readers it must name. */
const POLICIES: readonly (readonly [policy: string, setting: string])[] = [
  ['to-the-database', 'DATABASE_URL'],
  ['to-the-journals', 'KAFKA_BROKERS'],
  ['from-links', 'OWNER_URLS'],
  ['to-the-collector', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
];

/** What the Kubernetes manifests lack. */
export function kubernetesGaps(all: readonly StartableProgram[]): string[] {
  const migrate = secretsOf('migrate');
  const programs = all.filter(({ kind }) => kind.replicas.kubernetes > 0);
  return gapsIn([
    ...databaseRoles(programs.map(({ kind }) => kind)).map((role): Claim => {
      return [`migrate: ${passwordSetting(role)}`, migrate.includes(`${role}-database-password`)];
    }),
    ...programs.flatMap((program) => [...workloadClaims(program), ...policyClaims(program)]),
  ]);
}

function workloadClaims({
  kind: { name, app, podOf: pod = name, replicas, paths, settings = {}, databaseRole: role },
}: StartableProgram): Claim[] {
  const spec = workloadOf(pod)?.spec;
  const container = containerOf(pod, name);
  const listed = MANIFESTS.flatMap(({ resources = [] }) => resources);
  if (container === undefined) return [[`workload ${name}`, false]];
  return [
    [`kustomization.yaml: ${pod}.yaml`, listed.includes(`${pod}.yaml`)],
    [`${name}: command`, container.command.join(' ') === `node dist/apps/${app}/main.js`],
    ...Object.entries(settings).map(([setting, value]): Claim => [
      `${name}: ${setting}`,
      container.env?.some((each) => each.name === setting && each.value === value) === true,
    ]),
    [`${name}: replicas`, spec?.replicas === replicas.kubernetes],
    [`${name}: health`, container.livenessProbe?.httpGet.path === paths.health],
    [`${name}: readiness`, container.readinessProbe?.httpGet.path === paths.readiness],
    [
      `${name}: login`,
      secretsOf(pod, name).find((key) => key.endsWith('-database-url')) === (role && `${role}-database-url`),
    ],
  ];
}

function policyClaims({ kind: { name, podOf: pod = name }, settings }: StartableProgram): Claim[] {
  const wanted = POLICIES.filter(([, setting]) => setting in settings).map(([policy]) => policy);
  const lets = (policy: string): boolean => {
    const found = MANIFESTS.find(
      ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === policy,
    );
    return JSON.stringify(found?.spec?.podSelector ?? {}).includes(`"${pod}"`);
  };
  return [
    ...wanted.map((policy): Claim => [`network policy ${policy}: ${name}`, lets(policy)]),
    [`network policy figures: ${name}`, lets('figures') || lets('to-owners')],
  ];
}

function workloadOf(name: string): Workload | undefined {
  return MANIFESTS.find(
    ({ kind, metadata }) => ['StatefulSet', 'Deployment', 'Job'].includes(kind) && metadata.name === name,
  );
}

function containerOf(pod: string, name: string): Container | undefined {
  return workloadOf(pod)?.spec?.template?.spec.containers.find((each) => each.name === name);
}

function secretsOf(pod: string, name = pod): string[] {
  return (containerOf(pod, name)?.env ?? []).flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.key ?? []);
}

/** Processes whose metrics are not scraped. */
export function scrapeGaps(all: readonly StartableProgram[]): string[] {
  const programs = all.filter(({ kind }) => kind.replicas.compose > 0);
  const [pods] = POD_MONITOR.spec.selector.matchExpressions;
  const endpoints = POD_MONITOR.spec.podMetricsEndpoints;
  return gapsIn(
    programs.flatMap(({ kind }): Claim[] => {
      const job = SCRAPES.find(({ job_name: found }) => found === kind.name);
      const targets = job?.static_configs.flatMap(({ targets: each }) => each) ?? [];
      const names = processNames(kind, kind.replicas.compose);
      const addresses = names.map(
        (name) => `${name}:${COMPOSE.services[name]?.environment?.INTERNAL_PORT ?? ''}`,
      );
      return [
        [`prometheus.yml: job ${kind.name}`, job !== undefined],
        [`prometheus.yml: targets of ${kind.name}`, targets.join() === addresses.join()],
        [`prometheus.yml: path of ${kind.name}`, (job?.metrics_path ?? '/metrics') === kind.paths.metrics],
        [`monitoring/pods.yaml: ${kind.name}`, pods?.values.includes(kind.podOf ?? kind.name) === true],
        [
          `monitoring/pods.yaml: path of ${kind.name}`,
          endpoints.find(({ port }) => port === (kind.podOf === undefined ? 'internal' : kind.name))?.path ===
            kind.paths.metrics,
        ],
      ];
    }),
  );
}
