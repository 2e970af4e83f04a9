import { setTimeout as pause } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { KEPT } from './postgres.js';
import { EXIT, isCodedError, StartFault } from '../process/start-fault.js';

export type Tell = (line: string) => void;
type Asked = Pick<ClientBase, 'query'>;

export interface MigrationPatience {
  /** The wait for the turn: the longest migration takes much less. */
  readonly turnMs: number;
  /** The wait for a lock of the server. Nothing of the product holds a lock that a migration needs for so long. */
  readonly lockMs: number;
}

const USUAL_PATIENCE: MigrationPatience = { turnMs: 600_000, lockMs: 10_000 };

/** The first statements of a migration's session. */
export function migrationOptions({ lockMs }: MigrationPatience = USUAL_PATIENCE): string {
  return `${KEPT} -c lock_timeout=${lockMs}`;
}

const ASK_EVERY_MS = 100;
const ATTEMPTS = 3;
const BETWEEN_ATTEMPTS_MS = 500;
const LOCK_TIMEOUT = '55P03';
const DEADLOCK = '40P01';
/** PostgreSQL reports this for rows of its catalogue, without a code of its own. */
const CHANGED_MEANWHILE = /^tuple concurrently (?:updated|deleted)$/;

/** Takes the lock that serializes migrations, until the session ends. */
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

/** Retries a step that other sessions block. A failed step must leave nothing. */
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
    `the schema cannot be brought up to date, ${what}: docs/operate/database.md says how to see which session it is (Who holds a lock)`,
    EXIT.unavailable,
  );
}
