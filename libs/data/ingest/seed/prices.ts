import { FULL_PRICE } from '../../rules/scales.js';
import { mixed } from './random.js';

/** How the price of a market's first outcome moves over time. */
export interface PricePath {
  /** The same for all markets of a claim, so that their prices stay close. */
  readonly key: number;
  /** The price that it moves around, in micro-dollars. */
  readonly middle: number;
  /** The market states the opposite of the claim. */
  readonly isOpposite: boolean;
  /** The difference of this market from others of its claim. */
  readonly apart: number;
  /** Between these unix seconds, the price moves towards the payout. */
  readonly ending?: { readonly from: number; readonly until: number; readonly pays: number };
}

/** Random waves: their length and height. */
const WAVES = [
  { seconds: 604_800, micros: 110_000 },
  { seconds: 86_400, micros: 50_000 },
  { seconds: 7_200, micros: 20_000 },
  { seconds: 600, micros: 9_000 },
] as const;

const RANGE = 2 ** 32;
const LEAST = 20_000;

/** The price at a unix second, in whole micro-dollars, within the tradeable range. */
export function priceAt({ key, middle, isOpposite, apart, ending }: PricePath, second: number): number {
  const waves = WAVES.reduce((sum, wave, index) => sum + waveAt(mixed(key, index), wave, second), 0);
  const wandering = clamped(middle + waves);
  const claimed = ending === undefined ? wandering : movedTowards(wandering, ending, second);
  return clamped((isOpposite ? FULL_PRICE - claimed : claimed) + apart);
}

function clamped(price: number): number {
  return Math.min(FULL_PRICE - LEAST, Math.max(LEAST, Math.round(price)));
}

function movedTowards(
  price: number,
  { from, until, pays }: NonNullable<PricePath['ending']>,
  second: number,
): number {
  const share = Math.min(1, Math.max(0, (second - from) / (until - from)));
  return price + (pays - price) * share;
}

function waveAt(key: number, { seconds, micros }: (typeof WAVES)[number], second: number): number {
  const step = Math.floor(second / seconds);
  const rest = (second - step * seconds) / seconds;
  const [left, right] = [mixed(key, step) / RANGE, mixed(key, step + 1) / RANGE];
  return (2 * (left + (right - left) * rest) - 1) * micros;
}

export function onGrid(price: number, tick: number): number {
  const rounded = Math.round(price / tick) * tick;
  return Math.min(FULL_PRICE - tick, Math.max(tick, rounded));
}

/** The price of one outcome. With three outcomes, the second and third share what the first leaves. */
export function outcomePrice(first: number, index: number, outcomes: number): number {
  if (index === 0) return first;
  const left = FULL_PRICE - first;
  if (outcomes === 2) return left;
  return index === 1 ? Math.round(left * 0.4) : left - Math.round(left * 0.4);
}
