import type { BookEvent, BookLevel } from '../../rules/events.js';
import { PROVIDER_FACTS } from '../../rules/providers.js';
import { FULL_PRICE, MILLION } from '../../rules/scales.js';
import { MICROS_PER_SECOND } from '../../rules/times.js';
import type { SeedMarket } from './market.js';
import { onGrid, outcomePrice, priceAt } from './prices.js';
import { Draws, mixed } from './random.js';

/** Each book sends an event this often, because a fresh book is at most 10 s old. */
const SECONDS = 5;
/** Every this many events is a full snapshot, as at real venues. */
const SNAPSHOT_EVERY = 60;
const LEVELS = 5;

/** The books of a market at its last book event at or before a unix second. */
export function bookSnapshots(market: SeedMarket, second: number): BookEvent[] {
  const step = stepAt(market, second);
  return bookOutcomes(market).map((outcome) => snapshotOf(market, outcome, step));
}

/** The book events with `from <= second < until`. */
export function bookChanges(market: SeedMarket, from: number, until: number): BookEvent[] {
  const events: BookEvent[] = [];
  const outcomes = bookOutcomes(market);
  for (let step = stepAt(market, from - 1) + 1; step <= stepAt(market, until - 1); step += 1) {
    if (!hasBooks(market, secondOf(market, step))) continue;
    const isFirst = !hasBooks(market, secondOf(market, step - 1));
    for (const outcome of outcomes) {
      events.push(
        isFirst || step % SNAPSHOT_EVERY === 0
          ? snapshotOf(market, outcome, step)
          : changeOf(market, outcome, step),
      );
    }
  }
  return events;
}

/** Whether the market trades at that moment and has books. */
export function hasBooks({ pace, phases }: SeedMarket, second: number): boolean {
  return pace !== 'thin' && phases.some(({ from, until }) => from <= second && second < until);
}

function bookOutcomes({ provider, outcomes }: SeedMarket): readonly number[] {
  return PROVIDER_FACTS[provider].isSingleBook ? [0] : outcomes.map((_outcome, index) => index);
}

/** Spreads the book events of markets over the seconds. */
function phaseOf({ key }: SeedMarket): number {
  return key % SECONDS;
}

function stepAt(market: SeedMarket, second: number): number {
  return Math.floor((second - phaseOf(market)) / SECONDS);
}

function secondOf(market: SeedMarket, step: number): number {
  return step * SECONDS + phaseOf(market);
}

function eventOf(
  market: SeedMarket,
  outcome_index: number,
  step: number,
): Omit<BookEvent, 'snapshot' | 'bids' | 'asks'> {
  const { provider, market_id } = market;
  const at = secondOf(market, step) * MICROS_PER_SECOND;
  return {
    ...{ type: 'BOOK', provider, market_id, outcome_index, sequence: BigInt(step) },
    source_id: `${market_id}@book-${String(outcome_index)}-${String(step)}`,
    ...{ source_ts: at, received_at: at },
  };
}

function snapshotOf(market: SeedMarket, outcome: number, step: number): BookEvent {
  const { bids, asks } = levelsOf(market, outcome, step);
  return { ...eventOf(market, outcome, step), snapshot: true, bids, asks };
}

/** A change without levels is a heartbeat. */
function changeOf(market: SeedMarket, outcome: number, step: number): BookEvent {
  const [before, after] = [levelsOf(market, outcome, step - 1), levelsOf(market, outcome, step)];
  return {
    ...{ ...eventOf(market, outcome, step), snapshot: false },
    bids: changed(before.bids, after.bids),
    asks: changed(before.asks, after.asks),
  };
}

function changed(before: readonly BookLevel[], after: readonly BookLevel[]): BookLevel[] {
  const sizes = new Map(before.map(({ price, size }) => [price, size]));
  const left = new Set(after.map(({ price }) => price));
  return [
    ...after.filter(({ price, size }) => sizes.get(price) !== size),
    ...before.filter(({ price }) => !left.has(price)).map(({ price }) => ({ price, size: 0n })),
  ];
}

function levelsOf(
  market: SeedMarket,
  outcome: number,
  step: number,
): { readonly bids: BookLevel[]; readonly asks: BookLevel[] } {
  const { path, tick, outcomes, key } = market;
  // Prices change once a minute; sizes change in between.
  const minute = Math.floor(step / 12);
  const middle = onGrid(outcomePrice(priceAt(path, minute * 60), outcome, outcomes.length), tick);
  const half = tick * (1 + (key % 2));
  const side = (away: 1 | -1): BookLevel[] =>
    Array.from({ length: LEVELS }, (_none, level) => middle + away * (half + level * tick))
      .filter((price) => price > 0 && price < FULL_PRICE)
      .map((price) => ({ price, size: sizeOf(key + outcome, price, step) }));
  return { bids: side(-1), asks: side(1) };
}

/** Each level changes by itself, and not at every step. */
function sizeOf(key: number, price: number, step: number): bigint {
  const level = mixed(key, price);
  const draws = new Draws(mixed(level, Math.floor((step + (level % 7)) / 7)));
  return BigInt(draws.between(1, 9) * draws.of([10, 50, 100, 500])) * MILLION;
}
