import { Socket } from 'node:net';
import pg from 'pg';
import type { CustomTypesConfig, Pool, PoolClient } from 'pg';
import { isCodedError } from '../process/start-fault.js';
import { SessionClient } from './session-client.js';
import { watchPool } from './session-metrics.js';

const INT8 = pg.types.builtins.INT8;
const CONNECT_TIMEOUT_MS = 5_000;
/** The server's part of the total time for a reply; the rest is for the network. */
const SERVER_SHARE = 0.9;
/** A transaction that its owner forgot must not hold locks for ever. */
const IDLE_IN_TRANSACTION_MS = 30_000;

/** How long queries may stay unanswered once the process is told to stop: it has to end even while its database hangs. */
const LEAVE_AFTER_MS = 2_500;

/**
 * The server drops clients that have gone: one that ended during its statement within two seconds, a silent machine within half a
 * minute. Otherwise each would keep a session of the server until its locks are free.
 */
const LET_GO =
  '-c client_connection_check_interval=2000 -c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=4';

/**
 * Set in every session, not left to the server's or the login's settings, which anyone with the login may change. Commits are on
 * disk, and an unqualified name is PostgreSQL's own: otherwise a schema with a role's name comes first for that role, and anyone
 * who may create one can make others call their functions.
 */
export const KEPT = `-c synchronous_commit=on -c default_transaction_read_only=off -c search_path=pg_catalog,pg_temp ${LET_GO}`;

/**
 * The server plans a statement with list parameters again for each set of values, which takes four times as long as the result. No
 * plan of a look-up depends on its values (see the tests of plans), and a plan from when the tables were small must not be a scan.
 */
const ONE_PLAN = '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off';

export type Isolation = 'read committed' | 'repeatable read' | 'repeatable read, read only' | 'serializable';

export interface PoolSettings {
  readonly applicationName: string;
  readonly max: number;
  /** The server cancels longer statements. By default a little less than the time for a reply; without either there is no limit. */
  readonly statementTimeoutMs?: number;
  /** A query without a reply by then fails and closes its connection: its server may have vanished silently. */
  readonly answerTimeoutMs?: number;
  /** For processes that find rows by index, with few repeated statements. */
  readonly looksUp?: boolean;
  /** Aborted when the process is told to stop. For callers that lose nothing if a query is given up. */
  readonly stopping?: AbortSignal;
}

export class UnreadableNumber extends RangeError {}

/** An int8 that a JS number cannot hold exactly is an error: rounding an amount is worse than failing. */
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
  // A connection may be lost while idle or while checked out between two queries. Both only mean that the next
  // query fails or reconnects; without listeners they would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
  });
  watchPool(settings.applicationName, pool);
  return pool;
}

/**
 * The server has cancelled an abandoned statement before: otherwise it would keep waiting for its lock, in a session that the pool
 * no longer counts and replaces.
 */
function withinAnswer(answerTimeoutMs: number | undefined): number | undefined {
  return answerTimeoutMs === undefined ? undefined : Math.floor(answerTimeoutMs * SERVER_SHARE);
}

/** Creates the sockets of a pool, and ends all of them a while after the process was told to stop; later ones at once. */
function socketsUntil(stopping: AbortSignal): () => Socket {
  const open = new Set<Socket>();
  let isOver = false;
  const leave = (): void => {
    setTimeout(() => {
      isOver = true;
      for (const socket of open) socket.destroy();
    }, LEAVE_AFTER_MS).unref();
  };
  if (stopping.aborted) leave();
  else stopping.addEventListener('abort', leave, { once: true });
  return () => {
    const socket = new Socket();
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    if (isOver) setImmediate(() => socket.destroy());
    return socket;
  };
}

/**
 * Commits what `fn` did, or nothing. A rejection that isConnectionFailure() recognises may also mean a commit whose reply was lost:
 * callers that need to know have to check.
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
    // Postgres answers the commit of an aborted transaction with a quiet ROLLBACK.
    if (end.command !== 'COMMIT')
      throw new Error('the transaction was rolled back: a failed statement was ignored');
    return result;
  } catch (error) {
    broken = await brokenBy(client, error);
    throw error;
  } finally {
    client.release(broken);
  }
}

/**
 * Rolls back, or returns what makes the connection unusable. A connection that did not reply is not used again, which would take as
 * long once more: its end rolls back as well.
 */
async function brokenBy(client: PoolClient, error: unknown): Promise<Error | undefined> {
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

/** Serialization failure or deadlock: the same transaction may be retried from its start. */
export function isSerializationFailure(error: unknown): boolean {
  const code = sqlState(error);
  return code === '40001' || code === '40P01';
}

/** Another transaction held the row for longer than this one wanted to wait. */
export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === '55P03';
}

/** The server has cancelled a statement that took too long; it has had no effect. */
function isStatementTimeout(error: unknown): boolean {
  return sqlState(error) === '57014';
}

/** The server's disk is full or has failed, or it has no memory, locks or connections left. */
const OUT_OF_RESOURCES = /^(?:53\w{3}|58030)$/;

/** The data is undamaged: as soon as there is room, the same works. */
export function isOutOfResources(error: unknown): boolean {
  return OUT_OF_RESOURCES.test(sqlState(error) ?? '');
}

/** The database was away, too slow or without room: neither the caller's fault nor a bug. */
export function isUnanswered(error: unknown): boolean {
  return isStatementTimeout(error) || isConnectionFailure(error) || isOutOfResources(error);
}

/** The server stops, has crashed, starts or is gone, or has ended the session: all causes by operators, and later ones. */
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
/** The client library reports these without a code. */
const CLIENT_MESSAGES =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed)/;

/** The server was unreachable or its reply was lost: the statement may or may not have taken effect. */
export function isConnectionFailure(error: unknown): boolean {
  const code = sqlState(error);
  if (code !== undefined)
    return (
      code.startsWith('08') || ENDED.test(code) || code === TOO_MANY_CONNECTIONS || NETWORK_ERRORS.has(code)
    );
  return error instanceof Error && CLIENT_MESSAGES.test(error.message);
}
