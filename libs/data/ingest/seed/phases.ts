import { MICROS_PER_SECOND } from '../../rules/times.js';
import type { LifePlan } from './life.js';
import type { Pace, TradingPhase } from './market.js';

/** The time span of a world's history, in microseconds, and its density. */
export interface WorldTimes {
  readonly opens: number;
  /** The first start, in whole seconds. Trades before it are less frequent. */
  readonly start: number;
  /** 1 is normal; 2 gives twice as many trades in the history. */
  readonly scale: number;
}

interface OpenTime {
  readonly from: number;
  readonly until: number;
}

export function openTimes(listedAt: number, { closes, halted }: LifePlan): OpenTime[] {
  if (halted === undefined) return [{ from: listedAt, until: closes }];
  return [
    { from: listedAt, until: halted.from },
    { from: halted.until, until: closes },
  ];
}

/** Seconds from one trade, or group of trades, to the next. */
const PERIODS: Readonly<Record<Pace, { readonly history: number; readonly live: number }>> = {
  busy: { history: 36_000, live: 40 },
  steady: { history: 129_600, live: 300 },
  thin: { history: 432_000, live: 7_200 },
};

export function phasesOf(times: readonly OpenTime[], pace: Pace, world: WorldTimes): TradingPhase[] {
  const { history, live } = PERIODS[pace];
  const start = world.start / MICROS_PER_SECOND;
  return times.flatMap((time) => {
    const [from, until] = [time.from / MICROS_PER_SECOND, time.until / MICROS_PER_SECOND];
    const period = Math.max(1, Math.round(history / world.scale));
    return [
      ...wholePhase(from, Math.min(until, start), period),
      ...wholePhase(Math.max(from, start), until, live),
    ];
  });
}

/** Cuts the phase to whole periods, so that earlier trades can be counted without generating them. */
export function wholePhase(from: number, until: number, period: number): TradingPhase[] {
  const periods = Math.floor((until - from) / period);
  return periods < 1 ? [] : [{ from, until: from + periods * period, period }];
}
