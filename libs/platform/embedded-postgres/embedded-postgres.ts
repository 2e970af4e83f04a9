import path from 'node:path';
import pg from 'pg';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { chown, readFile, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Binaries, findBinaries } from './binaries.js';
import { checkDataFiles, type DataPlace, KEEPER_SCRIPT, openDataPlace } from './data-folder.js';
import { endLeftoverServer, readPostmasterPid, signal } from './leftover.js';
import { isOutOfResources, KEPT } from '../database/postgres.js';
import { type ClusterMarker, markerEnvironment } from '../supervision/marker.js';
import { makeFolder } from '../files/make-folder.js';
import { pickPorts } from '../supervision/ports.js';
import { EXIT, StartFault } from '../process/start-fault.js';
import { beginRestoreIn, refuseUnfinishedRestoreIn } from '../database/unfinished-restore.js';

const HOST = '127.0.0.1';
const POLL_MS = 15;
/** Recovery after a crash may take long. A server that fails exits before that. */
const READY_WITHIN_MS = 120_000;
const FAST_SHUTDOWN_MS = 5_000;
/** More than the largest cluster of one launcher opens with the default `DATABASE_POOL`. */
const CONNECTIONS = 320;

export interface EmbeddedPostgresOptions {
  /** Created if missing. Contains everything that must be kept. */
  readonly folder: string;
  readonly logFile: string;
  readonly port?: number;
  /** False only for data that may be lost. */
  readonly durable?: boolean;
  /** Deletes the folder when the server ends, however it ends. */
  readonly removeFolder?: boolean;
  /** Set in the server's environment, so that its processes can be told apart from others on this machine. */
  readonly marker?: ClusterMarker;
  /** A backup will be restored into it. Until `endRestoreIn` other programs refuse to open it. */
  readonly isRestore?: boolean;
  /** Receives lines for the operator. */
  readonly note?: (line: string) => void;
}

export interface EmbeddedPostgres {
  /** For the role `sotto`, which owns this database and may create others. */
  readonly url: string;
  readonly port: number;
  /** The postmaster's process id. */
  readonly pid: number;
  /** Resolves with the exit code when the server is gone, for any reason. */
  readonly exited: Promise<number | null>;
  /** Fast shutdown; `immediate` leaves the recovery to the next start. */
  stop(mode?: 'fast' | 'immediate'): Promise<void>;
}

/** Starts a real server that ends with this process, even if this process is killed. */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const note = options.note ?? (() => undefined);
  await makeFolder(path.dirname(options.logFile), 0o700);
  const place = await openDataPlace(options.folder, note);
  if (options.isRestore === true) await beginRestoreIn(place.folder);
  else await refuseUnfinishedRestoreIn(place.folder);
  const copies = place.user === undefined ? place.folder : '/var/lib/sotto';
  const binaries = await findBinaries(place.user, path.join(copies, 'postgresql'), note);
  if (place.isNew) await initialise(place, binaries, options);
  await checkDataFiles(place, binaries.version);
  await endLeftoverServer(place.data);

  const port = options.port ?? (await pickPorts(1))[0] ?? 0;
  const logStart = await fileSize(options.logFile);
  const before = await readPostmasterPid(place.data);
  const keeper = launch(place, binaries, port, options);
  const exited = once(keeper, 'exit').then(([code]) => code as number | null);
  let running = true;
  void exited.then(() => {
    running = false;
    keeper.stdin?.destroy();
  });
  const pid = await untilReady(place.data, before, () => running);
  if (pid === undefined) {
    keeper.stdin?.destroy();
    throw await refusal(place, options.logFile, logStart);
  }
  const server = {
    port,
    pid,
    exited,
    stop: (mode = 'fast' as const) => stopServer(keeper, pid, exited, mode),
  };
  try {
    return { ...server, url: await ensureDatabase(place, port) };
  } catch (error) {
    await server.stop();
    if (!(error instanceof pg.DatabaseError)) throw error;
    const exitCode = isOutOfResources(error) ? EXIT.unavailable : EXIT.damaged;
    throw new StartFault(`the database in ${place.data} cannot be opened: ${error.message}`, exitCode);
  }
}

async function initialise(
  place: DataPlace,
  binaries: Binaries,
  options: EmbeddedPostgresOptions,
): Promise<void> {
  // Created under another name and renamed, so that a killed start leaves nothing that looks like a database.
  const newData = `${place.data}.new`;
  const passwordFile = path.join(place.folder, 'initdb-password');
  await rm(newData, { recursive: true, force: true });
  await writeFile(passwordFile, place.credentials.superuser, { mode: 0o600 });
  if (place.user !== undefined) await chown(passwordFile, place.user.uid, place.user.gid);
  const log = openSync(options.logFile, 'a', 0o600);
  const args = ['--pgdata', newData, '--username', 'postgres', '--pwfile', passwordFile];
  args.push('--auth', 'scram-sha-256', '--encoding', 'UTF8', '--locale', 'C');
  args.push('--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8');
  if (options.durable === false) args.push('--no-sync');
  try {
    const child = spawn(binaries.initdb, args, {
      ...place.user,
      cwd: '/',
      env: serverEnv(),
      stdio: ['ignore', log, log],
    });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new StartFault(`PostgreSQL could not create ${newData}: see ${options.logFile}`);
  } finally {
    closeSync(log);
    await rm(passwordFile, { force: true });
  }
  await rename(newData, place.data);
}

function launch(
  place: DataPlace,
  binaries: Binaries,
  port: number,
  options: EmbeddedPostgresOptions,
): ChildProcess {
  const log = openSync(options.logFile, 'a', 0o600);
  const env = {
    ...serverEnv(),
    ...(options.marker === undefined ? {} : markerEnvironment(options.marker)),
    ...(options.removeFolder === true ? { SOTTO_REMOVE_FOLDER: place.folder } : {}),
  };
  const server = [binaries.postgres, '-D', place.data, ...serverSettings(port, options)];
  try {
    return spawn('/bin/sh', ['-c', KEEPER_SCRIPT, 'sotto-postgres-keeper', ...server], {
      ...place.user,
      cwd: '/',
      env,
      // A session of its own, so that Ctrl-C in the terminal reaches only the launcher, which then stops in order.
      detached: true,
      stdio: ['pipe', log, log],
    });
  } finally {
    closeSync(log);
  }
}

/** Not our environment, in which PG* variables of the operator's shell could change the server. */
function serverEnv(): NodeJS.ProcessEnv {
  return { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
}

function serverSettings(port: number, { durable = true }: EmbeddedPostgresOptions): string[] {
  const settings: Record<string, string | number> = {
    listen_addresses: HOST,
    port,
    unix_socket_directories: '',
    max_connections: CONNECTIONS,
    fsync: durable ? 'on' : 'off',
    full_page_writes: durable ? 'on' : 'off',
    synchronous_commit: 'on',
    max_wal_size: '2GB',
    jit: 'off',
    // With the defaults a transaction that reads more than 32 rows of a table locks all of it against other shards.
    max_pred_locks_per_relation: 10_000,
    max_pred_locks_per_page: 100,
    max_pred_locks_per_transaction: 1_024,
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_min_messages: 'warning',
    log_line_prefix: '%m [%p] %a ',
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

async function untilReady(
  data: string,
  before: number | undefined,
  isRunning: () => boolean,
): Promise<number | undefined> {
  for (let waited = 0; waited < READY_WITHIN_MS && isRunning(); waited += POLL_MS) {
    const lines = (await readFile(path.join(data, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
    const pid = Number(lines[0]);
    if (lines[7]?.trim() === 'ready' && pid !== before) return pid;
    await sleep(POLL_MS);
  }
  return undefined;
}

async function refusal(place: DataPlace, logFile: string, from: number): Promise<StartFault> {
  const log = (await readFile(logFile, 'utf8').catch(() => '')).slice(from);
  const { reason, exitCode } = whyItRefuses(log, await freeBytesAt(place.data));
  return new StartFault(
    `PostgreSQL refuses to start in ${place.data}: ${reason} (log: ${logFile})`,
    exitCode,
  );
}

async function freeBytesAt(folder: string): Promise<number> {
  return statfs(folder).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => Infinity,
  );
}

async function stopServer(
  keeper: ChildProcess,
  pid: number,
  exited: Promise<number | null>,
  mode: 'fast' | 'immediate',
): Promise<void> {
  if (keeper.exitCode !== null || keeper.signalCode !== null) return;
  signal(pid, mode === 'immediate' ? 'SIGQUIT' : 'SIGINT');
  const timer = new AbortController();
  const timeout = sleep(FAST_SHUTDOWN_MS, 'late', { signal: timer.signal, ref: false }).catch(
    () => undefined,
  );
  if ((await Promise.race([exited, timeout])) === 'late') signal(pid, 'SIGQUIT');
  await exited;
  timer.abort();
}

async function ensureDatabase(place: DataPlace, port: number): Promise<string> {
  await asSuperuser(place, port, async (admin) => {
    const password = pg.escapeLiteral(place.credentials.application);
    const role = await admin.query(`select from pg_roles where rolname = 'sotto'`);
    if (role.rowCount === 0) await admin.query(`create role sotto login createdb password ${password}`);
    // In older clusters the owner may not create roles yet.
    await admin.query('alter role sotto createrole');
    const database = await admin.query(`select from pg_database where datname = 'sotto'`);
    if (database.rowCount === 0) await admin.query('create database sotto owner sotto');
  });
  return `postgres://sotto:${place.credentials.application}@${HOST}:${port}/sotto`;
}

async function asSuperuser(
  place: DataPlace,
  port: number,
  work: (admin: pg.Client) => Promise<unknown>,
): Promise<void> {
  const admin = new pg.Client({
    host: HOST,
    port,
    user: 'postgres',
    password: place.credentials.superuser,
    database: 'postgres',
    application_name: 'sotto-launcher',
    options: KEPT,
  });
  admin.on('error', () => undefined);
  await admin.connect();
  try {
    await work(admin);
  } finally {
    await admin.end();
  }
}

async function fileSize(file: string): Promise<number> {
  return stat(file).then(
    (entry) => entry.size,
    () => 0,
  );
}

/** Faults before the server can log are written as a plain line: `postgres: could not access ...`. */
const REASONS = /(?:FATAL|PANIC|^postgres):\s+(.*)/gm;
/** Texts of the C library, because there are no error codes before a connection. */
const DISK_FAULT = /No space left on device|Disk quota exceeded|Input\/output error|Read-only file system/;
/** The size of a WAL segment, without which the server cannot start. On a full disk its log may lack the reason. */
const MIN_FREE_BYTES = 16 * 2 ** 20;

export interface PostgresRefusal {
  readonly reason: string;
  readonly exitCode: number;
}

/** Finds the reason in the server's log since its start, and from the free bytes of its disk. */
export function whyItRefuses(log: string, freeBytes: number): PostgresRefusal {
  const reasons = [...log.matchAll(REASONS)].map(([, reason = '']) => reason);
  const diskFault = reasons.find((reason) => DISK_FAULT.test(reason));
  if (diskFault !== undefined) return { reason: diskFault, exitCode: EXIT.unavailable };
  const [first] = reasons;
  if (first !== undefined) return { reason: first, exitCode: EXIT.damaged };
  if (freeBytes >= MIN_FREE_BYTES) return { reason: 'it gave no reason', exitCode: EXIT.damaged };
  return { reason: 'no space left on the device', exitCode: EXIT.unavailable };
}
