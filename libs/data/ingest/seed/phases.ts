import { MICROS_PER_SECOND } from '../../rules/times.js';
import type { LifePlan } from './life.js';
import type { Pace, TradingPhase } from './market.js';

/** Between when and when a world has a history, in microseconds, and how dense that is. */
export interface WorldTimes {
  readonly opens: number;
  /** The first start: whole seconds. Before it trades are scarcer. */
  readonly start: number;
  /** 1 as planned, 2 for twice as many trades in the history. */
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

/** Seconds from one trade, or burst of trades, to the next. */
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

/** Of whole periods, so that what has traded before is counted without looking at it. */
export function wholePhase(from: number, until: number, period: number): TradingPhase[] {
  const periods = Math.floor((until - from) / period);
  return periods < 1 ? [] : [{ from, until: from + periods * period, period }];
}
