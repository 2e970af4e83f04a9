import { type Clock, pause } from '../time/clock.js';
import { isUnanswered } from './postgres.js';
import { quietly } from '../process/log.js';

const POLL_MS = 500;

export interface Waiting {
  readonly clock: Clock;
  readonly stopping: AbortSignal;
  /** Called at once, and again while the database is away. */
  readonly onFault: (error: unknown) => void;
}

/**
 * Repeats a query until the database replies. Resolves with whether the process may begin; false if it is told to stop meanwhile.
 */
export async function onceDatabaseAnswers(
  ask: () => Promise<void>,
  { clock, stopping, onFault }: Waiting,
): Promise<boolean> {
  const notify = quietly((_what, error) => {
    onFault(error);
  }, clock);
  while (!stopping.aborted) {
    try {
      await ask();
      return true;
    } catch (error) {
      if (!isUnanswered(error)) throw error;
      notify('database', error);
    }
    await pause(clock, POLL_MS);
  }
  return false;
}
