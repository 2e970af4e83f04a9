import { Socket } from 'node:net';
import pg from 'pg';
import type { CustomTypesConfig, Pool, PoolClient } from 'pg';
import { isCodedError } from '../process/start-fault.js';
import { SessionClient } from './session-client.js';
import { watchPool } from './session-metrics.js';

const INT8 = pg.types.builtins.INT8;
const CONNECT_TIMEOUT_MS = 5_000;
/** Of the time in which an answer is waited for, what the server has for the statement; the rest is for its way. */
const SERVER_SHARE = 0.9;
/** A transaction that its owner forgot must not hold locks for ever. */
const IDLE_IN_TRANSACTION_MS = 30_000;

/** What a process that is told to stop has asked by then without an answer is given up: it has to leave while its database hangs, too. */
const LEAVE_AFTER_MS = 2_500;

/**
 * Whom nobody hears any more the server lets go: a client that has ended while its statement waits or runs, within two seconds, and a
 * machine that has gone without a word, within half a minute. Otherwise each would keep a session of the server for as long as somebody holds a lock.
 */
const LET_GO =
  '-c client_connection_check_interval=2000 -c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=4';

/**
 * Of every session, and not left to a server's or a login's own settings, which whoever has the login may change: what was committed is
 * on disk, and a name without a schema is PostgreSQL's own. Otherwise a schema that bears the name of a role comes first for that role, and
 * whoever may make one has others call his functions.
 */
export const KEPT = `-c synchronous_commit=on -c default_transaction_read_only=off -c search_path=pg_catalog,pg_temp ${LET_GO}`;

/**
 * Where a statement's parameters are lists, the server plans it anew for each set of values, which takes four times as long as the
 * answer. No plan of a look-up depends on its values (see the tests of plans), and one that was made while the tables were small must
 * not be a scan.
 */
const ONE_PLAN = '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off';

export type Isolation = 'read committed' | 'repeatable read' | 'repeatable read, read only' | 'serializable';

export interface PoolSettings {
  readonly applicationName: string;
  readonly max: number;
  /** The server ends what takes longer. Unless set, a little less than is waited for an answer; without either a statement takes its time. */
  readonly statementTimeoutMs?: number;
  /** A query that has no answer by then fails and gives its connection up: its server may have gone without a word. */
  readonly answerTimeoutMs?: number;
  /** For processes that find rows by index, with few statements that repeat. */
  readonly looksUp?: boolean;
  /** Aborted when the process is told to stop. For callers that lose nothing when a question is given up. */
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
 * What is given up here the server has ended before: it would wait for its lock all the same, on a session that the pool counts no more and
 * opens another one for.
 */
function withinAnswer(answerTimeoutMs: number | undefined): number | undefined {
  return answerTimeoutMs === undefined ? undefined : Math.floor(answerTimeoutMs * SERVER_SHARE);
}

/** Makes the sockets of a pool, and ends all of them a while after the process was told to stop; those made later at once. */
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
 * Commits what `fn` did, or nothing. A rejection that isConnectionFailure() recognises may also stand for a commit whose
 * answer was lost: callers that must know have to look.
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
 * Rolls back; what makes the connection unusable. One that did not answer is not asked again, which would take as long once more:
 * its end rolls back as well.
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

/** Serialization failure or deadlock: the same transaction may be tried again from its start. */
export function isSerializationFailure(error: unknown): boolean {
  const code = sqlState(error);
  return code === '40001' || code === '40P01';
}

/** Another transaction held the row for longer than this one wanted to wait. */
export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === '55P03';
}

/** The server has ended a statement that took longer than it may; what it would have done has not been done. */
function isStatementTimeout(error: unknown): boolean {
  return sqlState(error) === '57014';
}

/** The server's disk is full or has failed, or it has no memory, no locks or no connection to spare. */
const OUT_OF_RESOURCES = /^(?:53\w{3}|58030)$/;

/** What is there is not damaged by it: as soon as there is room, the same works. */
export function isOutOfResources(error: unknown): boolean {
  return OUT_OF_RESOURCES.test(sqlState(error) ?? '');
}

/** The database was away, too slow or without room: neither the caller's fault nor a bug. */
export function isUnanswered(error: unknown): boolean {
  return isStatementTimeout(error) || isConnectionFailure(error) || isOutOfResources(error);
}

/** It ends, has crashed, begins or is gone, or has ended the session: whatever an operator has done, and whatever is added to them. */
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

/** The server could not be asked or its answer was lost: what was sent may or may not have happened. */
export function isConnectionFailure(error: unknown): boolean {
  const code = sqlState(error);
  if (code !== undefined)
    return (
      code.startsWith('08') || ENDED.test(code) || code === TOO_MANY_CONNECTIONS || NETWORK_ERRORS.has(code)
    );
  return error instanceof Error && CLIENT_MESSAGES.test(error.message);
}
