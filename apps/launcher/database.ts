import path from 'node:path';
import pg from 'pg';
import { type Clock, pause } from '#libs/platform/time/clock.js';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '#libs/platform/embedded-postgres/embedded-postgres.js';
import { KEPT } from '#libs/platform/database/postgres.js';
import { StartFault } from '#libs/platform/process/start-fault.js';
import { BackOff } from '#libs/platform/supervision/child.js';
import { LogFile } from '#libs/platform/supervision/log-file.js';
import type { ClusterMarker } from '#libs/platform/supervision/marker.js';
import type { LauncherTerminal } from './terminal.js';

const OLDEST_VERSION = 150_000;

export interface LauncherDatabase {
  readonly url: string;
  /**
   * Calls `onStart` with the pid of the running server and of each later one. Never called for a server of
   * the operator.
   */
  watch(onStart: (pid: number) => void): void;
  stop(): Promise<void>;
  /** Leaves recovery to the next start. */
  kill(): void;
}

/** A server that the operator runs. Only its version and rights are checked. */
export async function useDatabase(url: string): Promise<LauncherDatabase> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000, options: KEPT });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ version: number; may_create: boolean }>(
      `select current_setting('server_version_num')::int as version,
              exists (select from pg_roles where rolname = current_user and (rolcreatedb or rolsuper)) as may_create`,
    );
    const [facts] = rows;
    if (facts === undefined || facts.version < OLDEST_VERSION)
      throw new Error('PostgreSQL 15 or newer is needed');
    if (!facts.may_create) throw new Error('its role must be allowed to create databases');
  } catch (error) {
    throw new StartFault(
      `DATABASE_URL cannot be used: ${error instanceof Error ? error.message : String(error)}`,
    );
  } finally {
    await client.end().catch(() => undefined);
  }
  return { url, watch: () => undefined, stop: () => Promise.resolve(), kill: () => undefined };
}

export interface EmbeddedSettings {
  readonly dataFolder: string;
  readonly marker: ClusterMarker;
  readonly clock: Clock;
  readonly terminal: LauncherTerminal;
}

/** An embedded server that is restarted whenever it ends. */
export async function embedDatabase(settings: EmbeddedSettings): Promise<LauncherDatabase> {
  const log = new LogFile(path.join(settings.dataFolder, 'logs', 'postgres.log'), () => undefined);
  await log.start();
  const database = new EmbeddedDatabase(settings, log);
  try {
    await database.start();
  } catch (error) {
    log.stop();
    throw error;
  }
  return database;
}

class EmbeddedDatabase implements LauncherDatabase {
  url = '';
  private server: EmbeddedPostgres | undefined;
  private port: number | undefined;
  private stopping = false;
  private restarting: Promise<void> = Promise.resolve();
  private onStart: (pid: number) => void = () => undefined;
  private readonly backOff = new BackOff();

  constructor(
    private readonly settings: EmbeddedSettings,
    /** The server does not rotate its log, and any client can make it write lines. */
    private readonly log: LogFile,
  ) {}

  async start(): Promise<void> {
    const { dataFolder, marker, terminal, clock } = this.settings;
    const startedNanos = clock.monotonicNanos();
    this.server = await startEmbeddedPostgres({
      folder: path.join(dataFolder, 'postgres'),
      logFile: this.log.path,
      marker,
      note: (line) => terminal.print(`        ${line}`),
      ...(this.port === undefined ? {} : { port: this.port }),
    });
    this.port = this.server.port;
    this.url = this.server.url;
    this.onStart(this.server.pid);
    void this.server.exited.then((code) => {
      if (!this.stopping) this.restarting = this.restart(code, startedNanos);
    });
  }

  watch(onStart: (pid: number) => void): void {
    this.onStart = onStart;
    if (this.server !== undefined) onStart(this.server.pid);
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.restarting;
    await this.server?.stop();
    this.log.stop();
  }

  kill(): void {
    this.stopping = true;
    this.log.stop();
    void this.server?.stop('immediate');
  }

  private async restart(code: number | null, startedNanos: bigint): Promise<void> {
    const { clock, terminal } = this.settings;
    const wait = this.backOff.next(clock.monotonicNanos() - startedNanos);
    terminal.problem(`postgres ended (exit code ${code ?? 'none'}), starting it again`);
    await pause(clock, wait);
    if (this.stopping) return;
    const again = clock.monotonicNanos();
    await this.start().catch((error: unknown) => {
      terminal.problem(error instanceof Error ? error.message : String(error));
      return this.stopping ? undefined : this.restart(null, again);
    });
  }
}
