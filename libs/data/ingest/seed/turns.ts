import type { Pace, SeedMarket, TradingPhase } from './market.js';
import { mixed } from './random.js';

/** How many trades happen at once, in a repeating pattern. So the number of earlier trades can be computed. */
const TURNS: Readonly<Record<Pace, readonly number[]>> = {
  thin: [1],
  steady: [1, 2, 1, 1],
  busy: [1, 1, 4, 1, 2, 1],
};

/** The n-th time that a market trades, at a unix second. */
export interface TradingMoment {
  readonly turn: number;
  readonly second: number;
}

/** The moments with `from <= second < until`, ascending. */
export function momentsOf(market: SeedMarket, from: number, until: number): TradingMoment[] {
  const moments: TradingMoment[] = [];
  let before = 0;
  for (const phase of market.phases) {
    const last = Math.floor((Math.min(until, phase.until) - 1 - phase.from) / phase.period);
    const first = Math.max(0, Math.floor((from - phase.from) / phase.period));
    for (let step = first; step <= last; step += 1) {
      const moment = momentIn(market, phase, before + step, step);
      if (moment.second >= from && moment.second < until) moments.push(moment);
    }
    before += stepsOf(phase);
  }
  return moments;
}

/** Undefined after the last moment. */
export function momentOf(market: SeedMarket, turn: number): TradingMoment | undefined {
  let before = 0;
  for (const phase of market.phases) {
    const step = turn - before;
    if (step < stepsOf(phase)) return momentIn(market, phase, turn, step);
    before += stepsOf(phase);
  }
  return undefined;
}

/** How many turns there may have been up to a unix second. The last one may not have come yet. */
export function turnsUntil({ phases }: SeedMarket, second: number): number {
  return phases
    .filter(({ from }) => from <= second)
    .reduce(
      (turns, phase) =>
        turns + Math.min(stepsOf(phase), Math.floor((second - phase.from) / phase.period) + 1),
      0,
    );
}

function stepsOf({ from, until, period }: TradingPhase): number {
  return (until - from) / period;
}

function momentIn({ key }: SeedMarket, phase: TradingPhase, turn: number, step: number): TradingMoment {
  return { turn, second: phase.from + step * phase.period + (mixed(key, turn) % phase.period) };
}

/** The number of trades in a turn, and the number before it. */
export function tradesOfTurn(pace: Pace, turn: number): { readonly count: number; readonly before: number } {
  const turns = TURNS[pace];
  const index = turn % turns.length;
  const before = Math.floor(turn / turns.length) * sum(turns) + sum(turns.slice(0, index));
  return { count: turns[index] ?? 1, before };
}

/** The turn of a trade, from the number of trades before it. */
export function turnOfTrade(pace: Pace, number: number): number {
  const turns = TURNS[pace];
  let turn = Math.floor(number / sum(turns)) * turns.length;
  while (tradesOfTurn(pace, turn + 1).before <= number) turn += 1;
  return turn;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0);
}
