import { pause, type Clock } from '../time/clock.js';
import { isUnanswered } from './postgres.js';
import { quietly } from '../process/quiet-faults.js';

const LOOK_MS = 500;

export interface Waiting {
  readonly clock: Clock;
  readonly stopping: AbortSignal;
  /** That it is away: at once, and again and again. */
  readonly onFault: (error: unknown) => void;
}

/**
 * For who waits for a database that is away: what has to be known before anything is begun is asked until it is answered. Resolves
 * with whether the process may begin; false where it is to stop.
 */
export async function onceDatabaseAnswers(
  ask: () => Promise<void>,
  { clock, stopping, onFault }: Waiting,
): Promise<boolean> {
  const tell = quietly((_what, error) => {
    onFault(error);
  }, clock);
  while (!stopping.aborted) {
    try {
      await ask();
      return true;
    } catch (error) {
      if (!isUnanswered(error)) throw error;
      tell('database', error);
    }
    await pause(clock, LOOK_MS);
  }
  return false;
}
