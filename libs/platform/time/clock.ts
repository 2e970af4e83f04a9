/** Cancels a timer. Does nothing if called twice, or after the timer has run. */
export type Cancel = () => void;

/** The only way to read or wait for the time. Production and the simulator have different implementations. */
export interface Clock {
  /** Wall time in nanoseconds since 1970. May jump when the machine's clock is set. */
  epochNanos(): bigint;
  /** Never goes back. Only differences have a meaning. */
  monotonicNanos(): bigint;
  /** Runs `action` once, after at least `millis`. A pending timer does not keep the process alive. */
  after(millis: number, action: () => void): Cancel;
  /**
   * How long to wait for work that repeats about every `millis`. Aligns such work, so that an idle process rarely wakes up. Without
   * this method work is not aligned.
   */
  untilNext?(millis: number): number;
}

/** Resolves after `millis`. */
export function pause(clock: Clock, millis: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(millis, resolve);
  });
}

/** Runs `poll` repeatedly, about `millis` after the last run ended, and never two at a time. `poll` must not reject. */
export function repeat(clock: Clock, millis: number, poll: () => Promise<void>): Cancel {
  let stopped = false;
  let cancel: Cancel = () => undefined;
  const next = (): void => {
    if (stopped) return;
    cancel = clock.after(untilNext(clock, millis), () => {
      void poll().finally(next);
    });
  };
  next();
  return () => {
    stopped = true;
    cancel();
  };
}

/** For callers that schedule repeated work themselves. See `Clock.untilNext`. */
export function untilNext(clock: Clock, millis: number): number {
  return clock.untilNext?.(millis) ?? millis;
}

/** Resolves in the next turn of the event loop, after everything that is already pending. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
