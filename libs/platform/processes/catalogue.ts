/** A condition for a process to serve: its tables and roles exist, or the topics of the journals. */
type Need = 'schema' | 'journals';

/** The services of the product that this release has. */
export const SERVICE_NAMES = ['auction', 'execution', 'data'] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];

/**
 * One kind of process. The launcher, database roles, docker-compose.yml, Kubernetes manifests and scrape targets are derived from
 * this or checked against it. A new kind needs only an entry here and an app.
 */
export interface ProcessKind {
  /** The name in cluster.json, of the metrics job, and of the app in pods. */
  readonly name: string;
  /** `apps/<app>/main.ts` runs; `apps/<app>/config.ts` exports its settings as `<app>Config` and `<app>Rules`. */
  readonly app: string;
  /** The services that need it. Logins and the vault belong to the auctions, so their processes serve all services. */
  readonly services: readonly ServiceName[];
  /** The settings that distinguish kinds which share an app, such as SERVES of the gateway. */
  readonly settings?: Readonly<Record<string, string>>;
  /** True if a single process is called `name-0` and not `name`. Several are always numbered. */
  readonly isNumbered: boolean;
  /** Number of processes under `npm start`, in docker-compose.yml, and of pods in Kubernetes. 0 means not deployed. */
  readonly replicas: { readonly local: number; readonly compose: number; readonly kubernetes: number };
  /** In Kubernetes, the kind whose pod contains its container, because they share a Unix socket. */
  readonly podOf?: string;
  /** Public ports on one machine: from `base` on in the order of `settings`, and `step` higher for each further replica. */
  readonly publicPort?: {
    readonly base: number;
    readonly step: number;
    readonly settings: readonly string[];
  };
  /** Its login in the database: `<database>_<role>`. */
  readonly databaseRole?: string;
  /** The port of its internal listener. */
  readonly paths: { readonly health: string; readonly readiness: string; readonly metrics: string };
  readonly waitsFor: readonly Need[];
  /** Kinds of a lower order stop first, equal ones together. Killed after `withinMs`. All orders together take less than 10 s. */
  readonly stop: { readonly order: number; readonly withinMs: number };
}

const ALL_SERVICES = SERVICE_NAMES;
const PATHS = { health: '/healthz', readiness: '/readyz', metrics: '/metrics' } as const;

/** Gateways stop first, so that no new commands arrive. Owners stop last, because the others report to them. */
export const PROCESSES = [
  {
    name: 'owner',
    app: 'owner',
    services: ALL_SERVICES,
    isNumbered: true,
    replicas: { local: 3, compose: 3, kubernetes: 3 },
    databaseRole: 'owner',
    paths: PATHS,
    waitsFor: ['schema', 'journals'],
    stop: { order: 4, withinMs: 2_000 },
  },
  {
    name: 'gateway',
    app: 'gateway',
    services: ALL_SERVICES,
    isNumbered: true,
    replicas: { local: 1, compose: 2, kubernetes: 2 },
    publicPort: { base: 8080, step: 1, settings: ['PORT'] },
    databaseRole: 'gateway',
    paths: PATHS,
    waitsFor: ['schema', 'journals'],
    stop: { order: 1, withinMs: 3_500 },
  },
  {
    name: 'projector',
    app: 'projector',
    services: ALL_SERVICES,
    isNumbered: false,
    replicas: { local: 1, compose: 2, kubernetes: 2 },
    databaseRole: 'projector',
    paths: PATHS,
    waitsFor: ['schema', 'journals'],
    stop: { order: 3, withinMs: 1_000 },
  },
  {
    name: 'settler',
    app: 'settler',
    services: ['auction'],
    isNumbered: false,
    replicas: { local: 1, compose: 1, kubernetes: 2 },
    databaseRole: 'settler',
    paths: PATHS,
    waitsFor: ['schema'],
    stop: { order: 2, withinMs: 1_500 },
  },
  {
    name: 'execution',
    app: 'gateway',
    services: ['execution'],
    settings: { SERVES: 'execution' },
    isNumbered: true,
    replicas: { local: 1, compose: 2, kubernetes: 2 },
    publicPort: { base: 8090, step: 1, settings: ['EXECUTION_PORT'] },
    databaseRole: 'gateway',
    paths: PATHS,
    waitsFor: ['schema', 'journals'],
    stop: { order: 1, withinMs: 3_500 },
  },
  {
    name: 'cell',
    app: 'cell',
    services: ['execution'],
    isNumbered: true,
    replicas: { local: 2, compose: 2, kubernetes: 2 },
    databaseRole: 'cell',
    paths: PATHS,
    waitsFor: ['schema', 'journals'],
    stop: { order: 4, withinMs: 2_000 },
  },
  {
    name: 'executor',
    app: 'executor',
    services: ['execution'],
    isNumbered: false,
    replicas: { local: 1, compose: 1, kubernetes: 1 },
    paths: PATHS,
    waitsFor: ['schema'],
    stop: { order: 2, withinMs: 1_500 },
  },
  {
    name: 'signer',
    app: 'signer',
    podOf: 'executor',
    services: ['execution'],
    isNumbered: false,
    replicas: { local: 1, compose: 1, kubernetes: 1 },
    databaseRole: 'signer',
    paths: PATHS,
    waitsFor: ['schema'],
    stop: { order: 3, withinMs: 1_000 },
  },
  {
    name: 'practice',
    app: 'practice',
    services: ['execution'],
    isNumbered: false,
    // Its admin endpoints accept any caller, so it stays on loopback (decision 28).
    replicas: { local: 1, compose: 0, kubernetes: 0 },
    paths: PATHS,
    waitsFor: [],
    stop: { order: 4, withinMs: 1_000 },
  },
  {
    name: 'data',
    app: 'gateway',
    services: ['data'],
    settings: { SERVES: 'data' },
    isNumbered: true,
    replicas: { local: 1, compose: 2, kubernetes: 2 },
    publicPort: { base: 8100, step: 10, settings: ['DATA_PORT', 'MD_PORT', 'STREAM_PORT'] },
    databaseRole: 'data',
    paths: PATHS,
    waitsFor: ['schema'],
    stop: { order: 1, withinMs: 3_500 },
  },
  {
    name: 'ingest',
    app: 'ingest',
    services: ['data'],
    isNumbered: true,
    replicas: { local: 1, compose: 1, kubernetes: 1 },
    databaseRole: 'ingest',
    paths: PATHS,
    waitsFor: ['schema'],
    stop: { order: 3, withinMs: 1_000 },
  },
] as const satisfies readonly ProcessKind[];

type CataloguedKind = (typeof PROCESSES)[number];
export type ProcessKindName = CataloguedKind['name'];

export function kindNamed<N extends ProcessKindName>(name: N): Extract<CataloguedKind, { name: N }> {
  const found = PROCESSES.find((kind): kind is Extract<CataloguedKind, { name: N }> => kind.name === name);
  if (found === undefined) throw new Error(`the catalogue has no ${name}`);
  return found;
}

/** The names of `count` processes of a kind. */
export function processNames({ name, isNumbered }: ProcessKind, count: number): string[] {
  if (count === 1 && !isNumbered) return [name];
  return Array.from({ length: count }, (_, index) => `${name}-${index}`);
}

type RoleOf<K> = K extends { readonly databaseRole?: infer R } ? Extract<R, string> : never;

/** The database roles of these kinds, each once. */
export function databaseRoles<K extends ProcessKind>(kinds: readonly K[]): RoleOf<K>[] {
  return [...new Set(kinds.flatMap((kind) => roleOf(kind) ?? []))];
}

function roleOf<K extends ProcessKind>(kind: K): RoleOf<K> | undefined {
  return kind.databaseRole as RoleOf<K> | undefined;
}
