/** Undoes a timer; calling it twice, or after the timer ran, does nothing. */
export type Cancel = () => void;

/** The only way to learn or to wait for the time. Production has one adapter, the simulator another. */
export interface Clock {
  /** Wall time in nanoseconds since 1970; may jump when the machine's clock is set. */
  epochNanos(): bigint;
  /** Never goes back; only differences mean anything. */
  monotonicNanos(): bigint;
  /** Runs `action` once, not before `millis` have passed. A pending timer does not keep the process alive. */
  after(millis: number, action: () => void): Cancel;
}

/** Resolves after `millis`. */
export function pause(clock: Clock, millis: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(millis, resolve);
  });
}

/** Runs `look` again and again, each time `millis` after the last run ended. A `look` handles its own failures. */
export function repeat(clock: Clock, millis: number, look: () => Promise<void>): Cancel {
  let stopped = false;
  let cancel: Cancel = () => undefined;
  const next = (): void => {
    if (stopped) return;
    cancel = clock.after(millis, () => {
      void look().finally(next);
    });
  };
  next();
  return () => {
    stopped = true;
    cancel();
  };
}

/** Lets everything run that the event loop already has to do. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
