import type { Pool } from 'pg';
import { dropOldMonths } from '#libs/data/store/retention.js';
import type { OnFault } from '#libs/platform/process/log.js';
import type { Cancel, Clock } from '#libs/platform/time/clock.js';

const EVERY_MILLIS = 3_600_000;
const RETRY_MILLIS = 10_000;
const NANOS_PER_MICRO = 1_000n;

interface KeepPorts {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly onFault: OnFault;
}

/** Drops old months now and then every hour. Returns a function that stops it. */
export function keepDays(days: number, { pool, clock, onFault }: KeepPorts): Cancel {
  let cancel: Cancel = () => undefined;
  let isStopped = false;
  const next = (millis: number): void => {
    if (!isStopped) cancel = clock.after(millis, run);
  };
  const run = (): void => {
    const now = Number(clock.epochNanos() / NANOS_PER_MICRO);
    dropOldMonths(pool, days, now).then(
      () => next(EVERY_MILLIS),
      (error: unknown) => {
        onFault('retention', error);
        next(RETRY_MILLIS);
      },
    );
  };
  run();
  return () => {
    isStopped = true;
    cancel();
  };
}
