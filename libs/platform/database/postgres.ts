import { Socket } from 'node:net';
import pg from 'pg';
import type { CustomTypesConfig, Pool, PoolClient } from 'pg';
import { isCodedError } from '../process/start-fault.js';
import { SessionClient } from './session-client.js';
import { watchPool } from './session-metrics.js';

const INT8 = pg.types.builtins.INT8;
const CONNECT_TIMEOUT_MS = 5_000;
/** The server's share of the time for a reply. The rest is for the network. */
const SERVER_SHARE = 0.9;
/** An abandoned transaction must not hold locks forever. */
const IDLE_IN_TRANSACTION_MS = 30_000;

/** How long queries may stay unanswered in a stopping process, which has to end even if its database hangs. */
const LEAVE_AFTER_MS = 2_500;

/**
 * The server ends sessions of clients that are gone: within two seconds if the process ended, within half a minute if the machine
 * is silent. Otherwise each would occupy a session until its locks are free.
 */
const DROP_LOST_CLIENTS =
  '-c client_connection_check_interval=2000 -c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=4';

/**
 * Set in every session, because anyone with the login may change its defaults. Commits are on disk. Unqualified names mean only
 * PostgreSQL's own objects: otherwise a schema with the name of a role would come first, with functions of its owner.
 */
export const KEPT = `-c synchronous_commit=on -c default_transaction_read_only=off -c search_path=pg_catalog,pg_temp ${DROP_LOST_CLIENTS}`;

/**
 * By default the server plans a statement with lists again for each set of values, which takes four times as long as its execution.
 * Plans of look-ups do not depend on values (see the tests of plans). Scans are off, because the tables may have been small.
 */
const ONE_PLAN = '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off';

export type Isolation = 'read committed' | 'repeatable read' | 'repeatable read, read only' | 'serializable';

export interface PoolSettings {
  readonly applicationName: string;
  readonly max: number;
  /** The server cancels longer statements. By default 90 % of `answerTimeoutMs`; without either there is no limit. */
  readonly statementTimeoutMs?: number;
  /** A query without a reply fails after this and closes its connection, because its server may have vanished silently. */
  readonly answerTimeoutMs?: number;
  /** For processes that find rows by index, with few different statements. */
  readonly looksUp?: boolean;
  /** Aborted when the process is told to stop. Only for callers whose queries may be given up. */
  readonly stopping?: AbortSignal;
}

export class UnreadableNumber extends RangeError {}

/** Throws for an int8 that a JS number cannot hold exactly, because rounding an amount is worse than failing. */
export function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new UnreadableNumber(`int8 ${text} does not fit a JS number`);
  return value;
}

export const columnTypes: CustomTypesConfig = {
  getTypeParser(oid, format) {
    if (oid === INT8 && format !== 'binary') return parseInt8;
    const parser: unknown = pg.types.getTypeParser(oid, format);
    return parser;
  },
};

export function openPool(url: string, settings: PoolSettings): Pool {
  const statementTimeoutMs = settings.statementTimeoutMs ?? withinAnswer(settings.answerTimeoutMs);
  const pool = new pg.Pool({
    Client: SessionClient,
    connectionString: url,
    application_name: settings.applicationName,
    options: settings.looksUp === true ? `${KEPT} ${ONE_PLAN}` : KEPT,
    max: settings.max,
    types: columnTypes,
    keepAlive: true,
    ...(settings.stopping === undefined ? {} : { stream: socketsUntil(settings.stopping) }),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    ...(statementTimeoutMs === undefined ? {} : { statement_timeout: statementTimeoutMs }),
    ...(settings.answerTimeoutMs === undefined ? {} : { query_timeout: settings.answerTimeoutMs }),
  });
  // A connection may be lost while idle or between two queries. The next query then fails or reconnects. Without these
  // listeners the error would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
  });
  watchPool(settings.applicationName, pool);
  return pool;
}

/**
 * The server must cancel a statement before the pool gives it up. Otherwise the statement would go on waiting for its lock, in a
 * session that the pool no longer counts.
 */
function withinAnswer(answerTimeoutMs: number | undefined): number | undefined {
  return answerTimeoutMs === undefined ? undefined : Math.floor(answerTimeoutMs * SERVER_SHARE);
}

/** Creates the sockets of a pool. Closes them a while after the process was told to stop, and later ones at once. */
function socketsUntil(stopping: AbortSignal): () => Socket {
  const open = new Set<Socket>();
  let isClosed = false;
  const closeLater = (): void => {
    setTimeout(() => {
      isClosed = true;
      for (const socket of open) socket.destroy();
    }, LEAVE_AFTER_MS).unref();
  };
  if (stopping.aborted) closeLater();
  else stopping.addEventListener('abort', closeLater, { once: true });
  return () => {
    const socket = new Socket();
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    if (isClosed) setImmediate(() => socket.destroy());
    return socket;
  };
}

/**
 * Commits all changes of `fn`, or none. After a rejection for which isConnectionFailure() is true the commit may have succeeded
 * and its reply may be lost: callers that need to know must check.
 */
export async function withTransaction<T>(
  pool: Pool,
  isolation: Isolation,
  fn: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query(`begin isolation level ${isolation}`);
    const result = await fn(client);
    const end = await client.query('commit');
    // PostgreSQL answers the commit of an aborted transaction with ROLLBACK, and without an error.
    if (end.command !== 'COMMIT')
      throw new Error('the transaction was rolled back: a failed statement was ignored');
    return result;
  } catch (error) {
    broken = await rollBack(client, error);
    throw error;
  } finally {
    client.release(broken);
  }
}

/**
 * Rolls back, or returns the error that makes the connection unusable. Sends no rollback over a connection that did not reply,
 * because that could take as long again. Closing it rolls back as well.
 */
async function rollBack(client: PoolClient, error: unknown): Promise<Error | undefined> {
  if (error instanceof Error && isConnectionFailure(error)) return error;
  try {
    await client.query('rollback');
    return undefined;
  } catch (failure) {
    return failure instanceof Error ? failure : new Error(String(failure));
  }
}

function sqlState(error: unknown): string | undefined {
  return isCodedError(error) ? error.code : undefined;
}

/** True for a serialization failure or a deadlock. The transaction may be retried from its start. */
export function isSerializationFailure(error: unknown): boolean {
  const code = sqlState(error);
  return code === '40001' || code === '40P01';
}

/** True if another transaction held a lock for longer than the lock timeout. */
export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === '55P03';
}

/** True if the server has cancelled a statement that took too long. It has had no effect. */
function isStatementTimeout(error: unknown): boolean {
  return sqlState(error) === '57014';
}

/** SQLSTATEs: the disk is full or has failed, or memory, locks or connections are used up. */
const OUT_OF_RESOURCES = /^(?:53\w{3}|58030)$/;

/** True if the server has no resources. The data is undamaged, and the same statement works once there is room. */
export function isOutOfResources(error: unknown): boolean {
  return OUT_OF_RESOURCES.test(sqlState(error) ?? '');
}

/** True if the database was unreachable, too slow or without resources: neither the caller's fault nor a bug. */
export function isUnanswered(error: unknown): boolean {
  return isStatementTimeout(error) || isConnectionFailure(error) || isOutOfResources(error);
}

/** SQLSTATEs: the server stops, starts or has crashed, or has ended the session. */
const ENDED = /^57P\w{2}$/;
const TOO_MANY_CONNECTIONS = '53300';
const NETWORK_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/** Messages of the client library, which have no code. */
const CLIENT_MESSAGES =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed)/;

/** True if the server was unreachable or its reply was lost. The statement may or may not have taken effect. */
export function isConnectionFailure(error: unknown): boolean {
  const code = sqlState(error);
  if (code !== undefined)
    return (
      code.startsWith('08') || ENDED.test(code) || code === TOO_MANY_CONNECTIONS || NETWORK_ERRORS.has(code)
    );
  return error instanceof Error && CLIENT_MESSAGES.test(error.message);
}
