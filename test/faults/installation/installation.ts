import { existsSync, mkdtempSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Children, type PlacedProcess } from '#apps/launcher/children.js';
import { embedDatabase, type LauncherDatabase } from '#apps/launcher/database.js';
import { prepareLogins, sharedLogin } from '#apps/launcher/database-logins.js';
import { prepareJournals } from '#apps/launcher/journals.js';
import { allReady } from '#apps/launcher/readiness.js';
import { makeSecrets } from '#apps/launcher/secrets.js';
import type { SeedResult } from '#apps/launcher/seed-result.js';
import { seedDemo } from '#apps/launcher/seed.js';
import { makeFolder } from '#libs/platform/files/make-folder.js';
import { migrate } from '#libs/platform/database/migrate.js';
import { pickPorts } from '#libs/platform/supervision/ports.js';
import { markerEnvironment, markerOf } from '#libs/platform/supervision/marker.js';
import { startOrphanReaper, type OrphanReaper } from '#libs/platform/supervision/orphan-reaper.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { allMigrations } from '#libs/schema/all-migrations.js';
import type { MachineAbilities } from '../machine.js';
import { Brokers } from './brokers.js';
import { familyOf, signalAll } from './families.js';
import { ForgivingClock } from './forgiving-clock.js';
import type { FakedTime } from './faked-time.js';
import { LogTerminal } from './log-terminal.js';
import { GATEWAYS, JOURNAL_USERS, OWNERS, planThroughWires, PROCESSES, TOPIC_PREFIX } from './plan.js';
import { SmallDisk } from './small-disk.js';
import { Wires } from './wires.js';

const LIMITS_FACTOR = 200;
const READY_WITHIN_MS = 90_000;
const BUILT_WITHIN_MS = 60_000;
const DISK_MB = 1_500;
const BROKER_DISK_MB = 600;
/** Owners refuse creates below this, on the small disk. */
export const LOW_DISK_MB = 100;
/** Low limits, so that restarts need snapshots and histories. */
const SETTINGS = {
  SNAPSHOT_EVERY_EVENTS: '500',
  STREAM_HISTORY_EVENTS: '100',
  JOURNAL_MIN_FREE_MB: String(LOW_DISK_MB),
  LOG_LEVEL: 'info',
};

export interface InstallationOptions {
  readonly machine: MachineAbilities;
  /** 0: the journals are in PostgreSQL. */
  readonly brokers: number;
  readonly loadAccounts: { readonly makers: number; readonly originators: number };
}

/** A whole deployment on this machine. Processes are started and restarted as by the launcher, and every wire can be cut. */
export class Installation {
  readonly clock = new SystemClock();
  readonly wires = new Wires();
  readonly disks: SmallDisk[] = [];
  readonly pids = new Map<string, number>();
  /** The last start of each process. */
  private readonly since = new Map<string, number>();
  readonly inspectorPorts = new Map<string, number>();
  brokers: Brokers | undefined;
  times: ReadonlyMap<string, FakedTime> = new Map();
  seed!: SeedResult;
  /** The gateways' public addresses. */
  gatewayUrls: readonly string[] = [];
  databaseUrl = '';
  /** Marks the processes of this installation, also for the orphan reaper. */
  markerEnv: Readonly<Record<string, string>> = {};
  private database: LauncherDatabase | undefined;
  private children: Children | undefined;
  private places: readonly PlacedProcess[] = [];
  private orphanReaper: OrphanReaper | undefined;
  private readonly over = new AbortController();
  private building: Promise<void> = Promise.resolve();
  private stopping: Promise<void> | undefined;
  /** File systems that could not be unmounted. */
  private readonly mounted: string[] = [];

  private constructor(
    readonly folder: string,
    readonly options: InstallationOptions,
    private readonly terminal: LogTerminal,
  ) {}

  /**
   * Calls `onBegin` once the folder exists and before anything else does, so that the installation can be
   * stopped at any time.
   */
  static async start(
    options: InstallationOptions,
    onBegin: (installation: Installation) => void,
  ): Promise<Installation> {
    const folder = mkdtempSync(path.join(tmpdir(), 'sotto-faults-'));
    // As root, the database runs as another user that must reach its folder.
    await chmod(folder, 0o711);
    await makeFolder(path.join(folder, 'logs'), 0o700);
    const terminal = new LogTerminal(new SystemClock(), path.join(folder, 'logs', 'launcher.log'));
    const installation = new Installation(folder, options, terminal);
    onBegin(installation);
    try {
      installation.building = installation.build();
      await installation.building;
    } catch (error) {
      await installation.stop();
      throw error;
    }
    return installation;
  }

  get logFolder(): string {
    return path.join(this.folder, 'logs');
  }

  pidOf(name: string): number {
    const pid = this.pids.get(name);
    if (pid === undefined) throw new Error(`${name} does not run`);
    return pid;
  }

  /** The address of its health endpoint, without any wires. */
  internalUrl(name: string): string {
    return `http://127.0.0.1:${this.placeOf(name).internalPort}`;
  }

  placeOf(name: string): PlacedProcess {
    const place = this.places.find(({ plan }) => plan.name === name);
    if (place === undefined) throw new Error(`there is no ${name}`);
    return place;
  }

  /** Stops all parts that exist, even if some of them fail. */
  stop(): Promise<void> {
    this.stopping ??= this.tearDown();
    return this.stopping;
  }

  /** At once: processes are left to the orphan reaper. */
  unmount(): void {
    for (const disk of this.disks.splice(0)) if (!disk.unmount()) this.mounted.push(disk.folder);
  }

  /** What could not be removed. */
  get left(): readonly string[] {
    return existsSync(this.folder) ? [this.folder, ...this.mounted] : this.mounted;
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  /** How long it has been running, in milliseconds. */
  ageOf(name: string): number {
    return performance.now() - (this.since.get(name) ?? Infinity);
  }

  private async tearDown(): Promise<void> {
    this.over.abort(new Error('the installation is to be stopped'));
    // A process that is starting must exist before it can be stopped.
    await Promise.race([
      this.building.catch(() => undefined),
      sleep(BUILT_WITHIN_MS, undefined, { ref: false }),
    ]);
    for (const disk of this.disks) await disk.empty();
    // A fault may have left them stopped.
    signalAll([...this.pids.values()].flatMap(familyOf), 'SIGCONT');
    await this.children?.stop().catch(() => this.children?.kill());
    await this.brokers?.stop().catch(() => undefined);
    await this.database?.stop().catch(() => undefined);
    await this.wires.close();
    this.unmount();
    this.orphanReaper?.dismiss();
  }

  private note(name: string, pid: number): void {
    this.pids.set(name, pid);
    this.since.set(name, performance.now());
  }

  private async build(): Promise<void> {
    const { clock, terminal, folder, options } = this;
    const marker = await markerOf(folder);
    this.over.signal.throwIfAborted();
    const forgiving = new ForgivingClock();
    this.markerEnv = markerEnvironment(marker);
    // All child processes inherit the marker: brokers and tracers must not outlive a campaign that is killed.
    Object.assign(process.env, this.markerEnv);
    this.orphanReaper = startOrphanReaper(marker, path.join(folder, 'cluster.json'));
    if (options.machine.mayMount) {
      this.disks.push(SmallDisk.mount('postgres', path.join(folder, 'postgres'), DISK_MB));
    }
    const [database] = await allOf([
      embedDatabase({ dataFolder: folder, marker, clock: forgiving, terminal }).then(
        (started) => (this.database = started),
      ),
      this.startBrokers(),
    ]);
    this.over.signal.throwIfAborted();
    this.databaseUrl = database.url;
    database.watch((pid) => this.note('postgres', pid));
    await migrate(database.url, allMigrations, { info: () => undefined });
    await prepareJournals(database.url, this.kafkaEnv, { clock }, { SERVICES: ['auction'], CELLS: 1 });
    this.seed = await seedDemo({ databaseUrl: database.url, loadAccounts: options.loadAccounts });
    await this.placeProcesses();
    this.over.signal.throwIfAborted();
    const settings = {
      appsFolder: path.resolve('dist/apps'),
      logFolder: this.logFolder,
      env: { LIMITS_FACTOR: String(LIMITS_FACTOR) },
      marker,
      clock: forgiving,
      terminal,
    };
    this.children = new Children(settings, this.places, ({ plan }, pid) => this.note(plan.name, pid));
    await this.children.start();
    const { signal } = this.over;
    await allReady(this.children, this.places, {
      clock,
      signal: AbortSignal.any([signal, AbortSignal.timeout(READY_WITHIN_MS)]),
      tell: () => undefined,
    });
  }

  private get kafkaEnv(): Readonly<Record<string, string>> {
    if (this.brokers === undefined) return {};
    return { KAFKA_BROKERS: this.brokers.addresses.join(','), KAFKA_TOPIC_PREFIX: TOPIC_PREFIX };
  }

  private async startBrokers(): Promise<void> {
    const { brokers: count, machine } = this.options;
    if (count === 0) return;
    const folder = path.join(this.folder, 'kafka');
    if (machine.mayMount) {
      const data = path.join(folder, 'broker-1', 'data');
      this.disks.push(SmallDisk.mount('broker-1', data, BROKER_DISK_MB));
    }
    const { wires, clock } = this;
    this.brokers = await Brokers.start({ folder, count, users: JOURNAL_USERS, wires, clock });
  }

  private async placeProcesses(): Promise<void> {
    const ports = await pickPorts(2 * PROCESSES.length + GATEWAYS.length);
    const gatewayPorts = ports.splice(0, GATEWAYS.length);
    const internal = new Map(PROCESSES.map((name) => [name, ports.pop() ?? 0]));
    for (const name of PROCESSES) this.inspectorPorts.set(name, ports.pop() ?? 0);
    const { plans, times } = await planThroughWires({
      folder: this.folder,
      wires: this.wires,
      brokers: this.brokers,
      machine: this.options.machine,
      databasePort: Number(new URL(this.databaseUrl).port),
      ownerPorts: OWNERS.map((name) => internal.get(name) ?? 0),
      inspectorPorts: this.inspectorPorts,
      env: SETTINGS,
      facts: {
        databases: (await prepareLogins(this.databaseUrl, () => undefined)) ?? sharedLogin(this.databaseUrl),
        secrets: makeSecrets(),
        limitsFactor: LIMITS_FACTOR,
        journalPath: path.join(this.folder, 'postgres'),
        listenHost: '127.0.0.1',
        publicPorts: { gateway: gatewayPorts },
        services: ['auction'],
        internalUrls: {},
      },
    });
    this.times = times;
    this.places = plans.map((plan) => ({ plan, internalPort: internal.get(plan.name) ?? 0 }));
    const crowd = gatewayPorts.map((port, index) => this.wires.lay('crowd', `gateway-${index}`, port));
    this.gatewayUrls = (await Promise.all(crowd)).map((port) => `http://127.0.0.1:${port}`);
  }
}

/** Like Promise.all, but it rejects only once no work is running. */
async function allOf<First, Second>(works: [Promise<First>, Promise<Second>]): Promise<[First, Second]> {
  await Promise.allSettled(works);
  return Promise.all(works);
}
