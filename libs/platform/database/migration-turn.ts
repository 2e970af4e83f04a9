import { setTimeout as pause } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { KEPT } from './postgres.js';
import { EXIT, isCodedError, StartFault } from '../process/start-fault.js';

export type Tell = (line: string) => void;
type Database = Pick<ClientBase, 'query'>;

export interface MigrationPatience {
  /** How long to wait for other migrations. The longest migration takes much less. */
  readonly turnMs: number;
  /** How long to wait for a lock of the server. The product holds no lock that a migration needs for that long. */
  readonly lockMs: number;
}

const DEFAULT_PATIENCE: MigrationPatience = { turnMs: 600_000, lockMs: 10_000 };

/** The session options of a migration. */
export function migrationOptions({ lockMs }: MigrationPatience = DEFAULT_PATIENCE): string {
  return `${KEPT} -c lock_timeout=${lockMs}`;
}

const POLL_MS = 100;
const ATTEMPTS = 3;
const RETRY_MS = 500;
const LOCK_TIMEOUT = '55P03';
const DEADLOCK = '40P01';
/** PostgreSQL reports this for rows of its catalogue, and has no specific code for it. */
const CHANGED_MEANWHILE = /^tuple concurrently (?:updated|deleted)$/;

/** Acquires the lock that serializes migrations. The session holds it until it ends. */
export async function awaitTurn(
  client: Database,
  lock: number,
  tell: Tell,
  { turnMs }: MigrationPatience = DEFAULT_PATIENCE,
): Promise<void> {
  const began = performance.now();
  for (let isReported = false; ; isReported = true) {
    const { rows } = await client.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [lock]);
    if (rows[0]?.mine === true) return;
    if (performance.now() - began >= turnMs)
      throw blockedFault(`another session has held the lock ${lock} all the time`);
    if (!isReported) tell('waiting for another migration to end');
    await pause(POLL_MS);
  }
}

/** Retries a step that other sessions block. A failed step must leave no changes. */
export async function amidOthers(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (!isInterference(error)) throw error;
      if (attempt === ATTEMPTS) throw blockedFault(error.message);
      await pause(RETRY_MS);
    }
  }
}

function isInterference(error: unknown): error is Error {
  if (!isCodedError(error)) return false;
  return error.code === LOCK_TIMEOUT || error.code === DEADLOCK || CHANGED_MEANWHILE.test(error.message);
}

function blockedFault(what: string): StartFault {
  return new StartFault(
    `the schema cannot be brought up to date, ${what}: docs/operate/database.md says how to see which session it is (Who holds a lock)`,
    EXIT.unavailable,
  );
}
