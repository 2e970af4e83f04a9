import path from 'node:path';
import type { Pool } from 'pg';
import type { Patience } from '#libs/journal/stores/until-settled.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { Environment } from '#libs/platform/settings/config.js';
import { refuseUnfitDatabaseAt } from '#libs/platform/database/fit-database.js';
import { startInternalServer, type InternalServer } from '#libs/platform/internal-server/internal-server.js';
import { makeFolder } from '#libs/platform/files/make-folder.js';
import { createMetrics } from '#libs/platform/process/metrics.js';
import { migrate, type MigrationClass } from '#libs/platform/database/migrate.js';
import { pickPorts } from '#libs/platform/supervision/ports.js';
import { openPool } from '#libs/platform/database/postgres.js';
import type { ClusterMarker } from '#libs/platform/supervision/marker.js';
import { refuseSecretsWithoutDatabase, checkedSecrets } from './secrets-check.js';
import { Children, internalUrl, type PlacedProcess } from './children.js';
import { ClusterFileWriter, clusterProcess, type ClusterHead } from './cluster-file.js';
import { fixedPortsOf, publicPortsOf, type LauncherConfig } from './config.js';
import type { ServiceName } from '#libs/platform/processes/catalogue.js';
import { sharedLogin, type DatabaseLogins, type PrepareLogins } from './database-logins.js';
import { DatabaseLock } from './database-lock.js';
import { embedDatabase, useDatabase, type LauncherDatabase } from './database.js';
import { pickData, pickInternalPorts, pickTrading } from './places.js';
import { type DataPlaces, type PlanProcesses, publicUrl, type TradingPlaces } from './processes.js';
import { accountsAtVenueB, openTrading } from './trading.js';
import { allReady } from './readiness.js';
import type { ClusterSecrets } from './secrets.js';
import type { Seed, SeedResult } from './seed-result.js';
import type { LauncherTerminal } from './terminal.js';

/** The parts of a cluster. Tests replace them with smaller ones. */
export interface ClusterParts {
  readonly appsFolder: string;
  readonly plan: PlanProcesses;
  readonly migrations: readonly MigrationClass[];
  readonly prepareLogins: PrepareLogins;
  readonly seed: Seed;
  readonly journalTable: string;
  /** Resolves with whether the journals are in Kafka. */
  readonly prepareJournals: (
    databaseUrl: string,
    env: Environment,
    patience: Patience,
    config: LauncherConfig,
  ) => Promise<boolean>;
}

export interface ClusterPlace {
  readonly config: LauncherConfig;
  readonly dataFolder: string;
  readonly env: Environment;
  readonly marker: ClusterMarker;
  readonly clock: Clock;
  readonly terminal: LauncherTerminal;
}

export interface StartedCluster {
  readonly gatewayUrls: readonly string[];
  readonly databaseUrl: string;
  readonly seed: SeedResult;
  readonly executionUrl?: string;
  readonly data?: DataAddresses;
}

interface DataAddresses {
  readonly data_url: string;
  readonly md_url: string;
  readonly stream_url: string;
}

/** Path of the stream of market data. */
const STREAM_PATH = '/stream';
/** Services whose callers use API keys. */
const USE_API_KEYS: readonly ServiceName[] = ['execution', 'data'];

/** Starts the parts in order and stops them in reverse, however far the start came. */
export class LaunchedCluster {
  private database: LauncherDatabase | undefined;
  private lock: DatabaseLock | undefined;
  private databaseHealth: InternalServer | undefined;
  private healthPool: Pool | undefined;
  private children: Children | undefined;
  private file: ClusterFileWriter | undefined;
  private trading: TradingPlaces | undefined;
  private data: DataPlaces | undefined;
  private settled: Promise<void> = Promise.resolve();
  private readonly stopping = new AbortController();
  private readonly displacement = Promise.withResolvers<never>();

  constructor(
    private readonly place: ClusterPlace,
    private readonly parts: ClusterParts,
  ) {
    this.displacement.promise.catch(() => undefined);
  }

  /**
   * Rejects when another cluster took the database while this one had lost its lock. This cluster must then
   * stop.
   */
  get displaced(): Promise<never> {
    return this.displacement.promise;
  }

  start(): Promise<StartedCluster> {
    const started = this.run();
    this.settled = started.then(
      () => undefined,
      () => undefined,
    );
    return started;
  }

  /** Also in the middle of a start, which then ends at its next step. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('stopped during the start'));
    this.file?.setReady(false);
    await this.settled;
    this.file?.setReady(false);
    await this.children?.stop();
    await this.databaseHealth?.close();
    await this.healthPool?.end();
    await this.lock?.release();
    await this.database?.stop();
  }

  /** Does not wait for an orderly stop. */
  kill(): void {
    this.children?.kill();
    this.database?.kill();
  }

  private async run(): Promise<StartedCluster> {
    const { config, dataFolder, env, terminal, clock } = this.place;
    const { signal } = this.stopping;
    await makeFolder(path.join(dataFolder, 'logs'), 0o700);
    const database = await this.openDatabase();
    this.database = database;
    await this.lockDatabase(database.url);
    await refuseUnfitDatabaseAt(database.url);
    const secrets = await checkedSecrets(dataFolder, database, (what) => {
      terminal.problem(what);
    });
    terminal.step('database ready');
    signal.throwIfAborted();
    const tell = (line: string): void => terminal.print(`        ${line}`);
    const unknown = await migrate(database.url, this.parts.migrations, { info: () => undefined, tell });
    const logins = await this.logins(database.url, tell);
    terminal.step(
      unknown.length === 0 ? 'schema up to date' : 'schema of a newer release, which this one may use',
    );
    signal.throwIfAborted();
    const isOnKafka = await this.parts.prepareJournals(
      database.url,
      env,
      { clock, tell, stopping: signal },
      config,
    );
    if (isOnKafka) terminal.step('topics of the journals in place');
    signal.throwIfAborted();
    const seed = await this.parts.seed({
      databaseUrl: database.url,
      loadAccounts: config.LOAD_ACCOUNTS,
      ...(USE_API_KEYS.some((name) => config.SERVICES.includes(name))
        ? { apiKeySecret: secrets.api_key_secret }
        : {}),
    });
    terminal.step('demo accounts and contracts in place');
    signal.throwIfAborted();

    const places = await this.placeProcesses(logins, secrets);
    const urlsOf = (kind: string): string[] =>
      places.flatMap(({ plan: { kind: found, url } }) =>
        found.name === kind && url !== undefined ? [url] : [],
      );
    const gatewayUrls = urlsOf('gateway');
    const [executionUrl] = urlsOf('execution');
    const data = this.dataAddresses();
    const head = this.head(database.url, gatewayUrls, { executionUrl, data });
    const shown = data === undefined ? seed : { ...seed, adminSecret: this.adminSecret(secrets) };
    this.file = new ClusterFileWriter(dataFolder, head, shown, clock);
    await this.publishDatabase(this.file, database);
    this.children = this.makeChildren(this.file, places);
    await this.children.start();
    terminal.step(`${places.length} processes started`);
    await allReady(this.children, places, { clock, signal, tell });
    signal.throwIfAborted();
    await this.openTrading(places, seed, secrets.service_token);
    signal.throwIfAborted();
    this.children.setReady();
    this.file.setReady(true);
    return {
      gatewayUrls,
      databaseUrl: database.url,
      seed,
      ...(executionUrl === undefined ? {} : { executionUrl }),
      ...(data === undefined ? {} : { data }),
    };
  }

  /** One of the secrets that market data accepts from operators. */
  private adminSecret({ admin_secret: own }: ClusterSecrets): string {
    return this.place.env.ADMIN_SECRETS?.split(',')[0]?.trim() ?? own;
  }

  private dataAddresses(): DataAddresses | undefined {
    if (this.data === undefined) return undefined;
    const { dataPort, mdPort, streamPort } = this.data;
    const at = (port: number): string => publicUrl(this.place.config.LISTEN_HOST, port);
    const stream_url = `${at(streamPort).replace(/^http/, 'ws')}${STREAM_PATH}`;
    return { data_url: at(dataPort), md_url: at(mdPort), stream_url };
  }

  /** Opens accounts at the practice venues for the demo traders, where those venues run. */
  private async openTrading(
    places: readonly PlacedProcess[],
    { users }: SeedResult,
    serviceToken: string,
  ): Promise<void> {
    const executor = places.find(({ plan }) => plan.kind.name === 'executor');
    const { trading, healthPool: pool } = this;
    if (trading === undefined || executor === undefined || pool === undefined) return;
    const { clock, terminal } = this.place;
    const link = { executorUrl: internalUrl(executor), serviceToken, clock };
    this.file?.describePractice(await openTrading(trading, users, pool, link));
    this.file?.describeAccounts(await accountsAtVenueB(pool));
    terminal.step('demo traders have accounts at the practice venues');
  }

  /** Takes the lock before anything in the database is read or changed. */
  private async lockDatabase(url: string): Promise<void> {
    const holder = `process ${process.pid}, port ${this.place.config.PORT}`;
    this.lock = new DatabaseLock(url, holder, this.place.clock);
    await this.lock.take(this.stopping.signal);
    this.lock.watch(this.displacement.reject);
  }

  /** Each kind of process gets a database role with only its own rights, if roles can be created. */
  private async logins(databaseUrl: string, tell: (line: string) => void): Promise<DatabaseLogins> {
    const logins = await this.parts.prepareLogins(databaseUrl, tell);
    if (logins !== undefined) return logins;
    this.place.terminal.print('        the role of DATABASE_URL may not create roles: all processes use it');
    return sharedLogin(databaseUrl);
  }

  /** A process keeps its port while the cluster runs, because the others know it by that port. */
  private async placeProcesses(databases: DatabaseLogins, secrets: ClusterSecrets): Promise<PlacedProcess[]> {
    const { config, dataFolder } = this.place;
    const fixed = publicPortsOf(config);
    const { SERVICES: services } = config;
    const data = services.includes('data') ? await pickData(this.place) : undefined;
    this.data = data;
    const publicPorts = data === undefined ? fixed : { ...fixed, data: [data.dataPort] };
    const taken = [...fixedPortsOf(config), ...portsOfData(data)];
    const linked = await pickInternalPorts(config, taken);
    const reservedPorts = [...taken, ...Object.values(linked).flat()];
    const trading = services.includes('execution') ? await pickTrading(dataFolder, reservedPorts) : undefined;
    this.trading = trading;
    const plans = this.parts.plan({
      services,
      databases,
      secrets,
      limitsFactor: config.LIMITS_FACTOR,
      journalPath: config.DATABASE_URL === undefined ? dataFolder : undefined,
      listenHost: config.LISTEN_HOST,
      publicPorts,
      internalUrls: Object.fromEntries(
        Object.entries(linked).map(([kind, ports]) => [
          kind,
          ports.map((port) => `http://127.0.0.1:${port}`),
        ]),
      ),
      ...(trading === undefined ? {} : { trading }),
      ...(data === undefined ? {} : { data }),
    });
    const otherPorts = await pickPorts(plans.length, reservedPorts);
    return plans.map((plan) => {
      const port = linked[plan.kind.name]?.shift() ?? otherPorts.shift();
      if (port === undefined) throw new Error(`no port was reserved for ${plan.name}`);
      return { plan, internalPort: port };
    });
  }

  private head(
    databaseUrl: string,
    gatewayUrls: readonly string[],
    others: { readonly executionUrl: string | undefined; readonly data: DataAddresses | undefined },
  ): ClusterHead {
    return {
      gateway_url: gatewayUrls[0] ?? '',
      ...(others.executionUrl === undefined ? {} : { execution_url: others.executionUrl }),
      ...others.data,
      database_url: databaseUrl,
      journal_table: this.parts.journalTable,
      limits_factor: this.place.config.LIMITS_FACTOR,
    };
  }

  private async openDatabase(): Promise<LauncherDatabase> {
    const { config, dataFolder } = this.place;
    if (config.DATABASE_URL !== undefined) return await useDatabase(config.DATABASE_URL);
    await refuseSecretsWithoutDatabase(dataFolder);
    return await embedDatabase(this.place);
  }

  private makeChildren(file: ClusterFileWriter, places: readonly PlacedProcess[]): Children {
    const settings = { ...this.place, ...this.parts, logFolder: path.join(this.place.dataFolder, 'logs') };
    return new Children(settings, places, (place, pid) => {
      file.put(clusterProcess(place, pid));
    });
  }

  /** PostgreSQL does not speak HTTP, so the launcher answers its health checks. */
  private async publishDatabase(file: ClusterFileWriter, database: LauncherDatabase): Promise<void> {
    const pool = openPool(database.url, {
      applicationName: 'sotto-launcher',
      max: 1,
      statementTimeoutMs: 1_000,
    });
    this.healthPool = pool;
    const ask = async (status: string): Promise<{ ok: boolean; status: string }> => {
      await pool.query('select 1');
      return { ok: true, status };
    };
    const routes = { healthz: () => ask('healthy'), readyz: () => ask('ready') };
    const registry = createMetrics({ process: 'postgres' });
    this.databaseHealth = await startInternalServer({ ...routes, registry }, 0);
    const base = `http://127.0.0.1:${this.databaseHealth.port}`;
    database.watch((pid) => {
      file.put({
        name: 'postgres',
        kind: 'postgres',
        pid,
        health_url: `${base}/healthz`,
        metrics_url: `${base}/metrics`,
      });
    });
  }
}

function portsOfData(data: DataPlaces | undefined): number[] {
  if (data === undefined) return [];
  const { dataPort, mdPort, streamPort, liveReadsPort } = data;
  return [dataPort, mdPort, streamPort, liveReadsPort];
}
