import { type Clock, pause } from '../time/clock.js';
import { isUnanswered } from './postgres.js';
import { quietly } from '../process/log.js';

const POLL_MS = 500;

export interface WaitOptions {
  readonly clock: Clock;
  readonly stopping: AbortSignal;
  /** Called at the first failure, and again from time to time while the database is unreachable. */
  readonly onFault: (error: unknown) => void;
}

/**
 * Repeats a query until the database replies. Resolves with true then, or with false if the process is told to stop meanwhile.
 */
export async function onceDatabaseAnswers(
  query: () => Promise<void>,
  { clock, stopping, onFault }: WaitOptions,
): Promise<boolean> {
  const notify = quietly((_what, error) => {
    onFault(error);
  }, clock);
  while (!stopping.aborted) {
    try {
      await query();
      return true;
    } catch (error) {
      if (!isUnanswered(error)) throw error;
      notify('database', error);
    }
    await pause(clock, POLL_MS);
  }
  return false;
}
