import { setTimeout as pause } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { KEPT } from './postgres.js';
import { EXIT, isCodedError, StartFault } from '../process/start-fault.js';

export type Tell = (line: string) => void;
type Asked = Pick<ClientBase, 'query'>;

export interface MigrationPatience {
  /** For the turn: the longest migration takes much less. */
  readonly turnMs: number;
  /** For a lock of the server's own. Nothing of the product holds so long what a migration needs. */
  readonly lockMs: number;
}

const USUAL_PATIENCE: MigrationPatience = { turnMs: 600_000, lockMs: 10_000 };

/** What a session of a migration begins with. */
export function migrationOptions({ lockMs }: MigrationPatience = USUAL_PATIENCE): string {
  return `${KEPT} -c lock_timeout=${lockMs}`;
}

const ASK_EVERY_MS = 100;
const ATTEMPTS = 3;
const BETWEEN_ATTEMPTS_MS = 500;
const LOCK_TIMEOUT = '55P03';
const DEADLOCK = '40P01';
/** PostgreSQL says so of rows of its own tables, without a code of its own. */
const CHANGED_MEANWHILE = /^tuple concurrently (?:updated|deleted)$/;

/** Takes the lock by which migrations take turns, to the end of the session. */
export async function awaitTurn(
  client: Asked,
  lock: number,
  tell: Tell,
  { turnMs }: MigrationPatience = USUAL_PATIENCE,
): Promise<void> {
  const began = performance.now();
  for (let isTold = false; ; isTold = true) {
    const { rows } = await client.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [lock]);
    if (rows[0]?.mine === true) return;
    if (performance.now() - began >= turnMs)
      throw inTheWay(`another session has had the lock ${lock} all along`);
    if (!isTold) tell('waiting for another migration to end');
    await pause(ASK_EVERY_MS);
  }
}

/** Does again a few times what others were in the way of. What is tried must leave nothing where it fails. */
export async function amidOthers(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (!isInterference(error)) throw error;
      if (attempt === ATTEMPTS) throw inTheWay(error.message);
      await pause(BETWEEN_ATTEMPTS_MS);
    }
  }
}

function isInterference(error: unknown): error is Error {
  if (!isCodedError(error)) return false;
  return error.code === LOCK_TIMEOUT || error.code === DEADLOCK || CHANGED_MEANWHILE.test(error.message);
}

function inTheWay(what: string): StartFault {
  return new StartFault(
    `the schema cannot be brought up to date, ${what}: docs/operations.md says how to see which session it is (Who holds a lock)`,
    EXIT.unavailable,
  );
}
