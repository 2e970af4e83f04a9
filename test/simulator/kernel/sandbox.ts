import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import type { Scheduler } from './scheduler.js';

/** The longest turn of a process's event loop. */
const TURN_NANOS = 20_000;

type Forbidden =
  | 'setTimeout'
  | 'setInterval'
  | 'Math.random'
  | 'Date.now'
  | 'new Date'
  | 'performance.now'
  | 'process.hrtime'
  | 'process.hrtime.bigint'
  | 'crypto.randomUUID'
  | 'crypto.randomInt';

/**
 * While a simulation runs, `setImmediate` is the end of a turn in simulated time, and any use of real time or
 * randomness is refused.
 */
export function enterSandbox(scheduler: Scheduler, turn: () => number): () => void {
  const real = {
    setImmediate: globalThis.setImmediate,
    setTimeout: globalThis.setTimeout,
    setInterval: globalThis.setInterval,
    random: Math.random.bind(Math),
    now: Date.now.bind(Date),
    hrtime: process.hrtime,
    Date,
    performance: globalThis.performance,
    randomUUID: crypto.randomUUID,
    randomInt: crypto.randomInt,
  };
  const soon = (action: (...given: unknown[]) => void, ...given: unknown[]): NodeJS.Immediate => {
    const { running } = scheduler;
    const act = (): void => {
      action(...given);
    };
    if (running === undefined) scheduler.after(turn() * TURN_NANOS, undefined, act);
    else running.soon(act, turn() * TURN_NANOS);
    return UNCANCELLABLE;
  };
  Object.assign(globalThis, { setImmediate: soon });
  for (const name of ['setTimeout', 'setInterval'] as const)
    Object.assign(globalThis, { [name]: refuse(name) });
  Object.assign(Math, { random: refuse('Math.random') });
  Object.assign(Date, { now: refuse('Date.now') });
  Object.assign(globalThis, { Date: thatTellsNoTime(Date) });
  // Test files in one process share this object, and a timer left by an earlier file may still call it.
  replacePerformance(
    Object.assign(Object.create(performance) as typeof performance, { now: refuse('performance.now') }),
  );
  replaceChance({ randomUUID: refuse('crypto.randomUUID'), randomInt: refuse('crypto.randomInt') });
  // Replaced as a whole: test files in one process share the function, and a timer left by an earlier file may
  // still call it.
  process.hrtime = Object.assign(refuse('process.hrtime'), { bigint: refuse('process.hrtime.bigint') });
  return () => {
    const { setImmediate, setTimeout, setInterval, random, now, hrtime, randomUUID, randomInt } = real;
    Object.assign(globalThis, { setImmediate, setTimeout, setInterval, Date: real.Date });
    Object.assign(Math, { random });
    Object.assign(Date, { now });
    replacePerformance(real.performance);
    replaceChance({ randomUUID, randomInt });
    process.hrtime = hrtime;
  };
}

const UNCANCELLABLE: NodeJS.Immediate = {
  hasRef: () => false,
  ref: () => UNCANCELLABLE,
  unref: () => UNCANCELLABLE,
  _onImmediate: () => undefined,
  [Symbol.dispose]: () => undefined,
};

/** Dates from given values still work. */
function thatTellsNoTime(real: DateConstructor): DateConstructor {
  const now = refuse('new Date');
  return new Proxy(real, {
    construct: (target, given, by) =>
      given.length === 0 ? now() : (Reflect.construct(target, given, by) as Date),
    apply: now,
  });
}

function replacePerformance(value: typeof performance): void {
  Object.defineProperty(globalThis, 'performance', { value, configurable: true, writable: true });
}

/** Also for modules that import these functions by name. */
function replaceChance(chance: { readonly randomUUID: unknown; readonly randomInt: unknown }): void {
  Object.assign(crypto, chance);
  syncBuiltinESMExports();
}

function refuse(name: Forbidden): () => never {
  return () => {
    throw new Error(`${name} was called within a simulation`);
  };
}
