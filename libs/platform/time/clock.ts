/** Cancels a timer; calling it twice, or after the timer ran, does nothing. */
export type Cancel = () => void;

/** The only way to read or wait for the time. Production has one adapter, the simulator another. */
export interface Clock {
  /** Wall time in nanoseconds since 1970; may jump when the machine's clock is set. */
  epochNanos(): bigint;
  /** Never goes back; only differences mean anything. */
  monotonicNanos(): bigint;
  /** Runs `action` once, not before `millis` have passed. A pending timer does not keep the process alive. */
  after(millis: number, action: () => void): Cancel;
  /**
   * How long to wait for work that repeats about every `millis`, so that all such work runs together and an idle process rarely wakes
   * up. Without it each kind keeps its own times.
   */
  untilNext?(millis: number): number;
}

/** Resolves after `millis`. */
export function pause(clock: Clock, millis: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(millis, resolve);
  });
}

/** Runs `poll` again and again, about `millis` after the last run ended, and never two at a time. It handles its own failures. */
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

/** For callers that repeat something by themselves, see `Clock`. */
export function untilNext(clock: Clock, millis: number): number {
  return clock.untilNext?.(millis) ?? millis;
}

/** Runs everything that the event loop has to do already. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
