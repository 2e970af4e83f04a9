import type { Pool } from 'pg';
import { repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import { LIVE } from '../schemas.js';
import { AnswersTable } from '#libs/auction/projections/tables/answers.js';

const EVERY_MILLIS = 5_000;
const BITE = 500;

/** Lets answers go whose time is over, a few at a time so that nobody waits for it. Any number of processes may do it. */
export function startPruning(pool: Pool, clock: Clock, onFault: (error: unknown) => void): Cancel {
  const answers = new AnswersTable(LIVE);
  return repeat(clock, EVERY_MILLIS, async () => {
    try {
      await answers.prune(pool, clock.epochNanos(), BITE);
    } catch (error) {
      onFault(error);
    }
  });
}
