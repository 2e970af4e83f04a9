import { evenGrid } from '../../matching/grid.js';
import { ONE_DOLLAR, type OutcomeIndex } from '../../matching/order-book.js';
import type { MarketTerms, Millis } from '../../venue/terms.js';
import type { ListedMarket, VenueReads } from '../../venue/venue-reads.js';
import type { NewMarket } from '../venue-shell.js';
import { decimal } from './decimals.js';

const FIRST_ASSET = 100_000_000;
const SIDES = 10;
const TICK = 100;
const GRID = evenGrid(TICK, { min_size: ONE_DOLLAR, size_step: ONE_DOLLAR });
const YEAR_MS = 365 * 86_400_000;
const OUTCOMES: readonly [string, string] = ['YES', 'NO'];
const FIRST_OUTCOME = 5;

export const COLLATERAL = { coin: 'USDC', token: 0, tokenId: '0x6d1e7cde53ba9467b783cb7c530ce054' } as const;

/** A contract id names a contract that the auctions trade. */
const SEEDS: readonly (readonly [title: string, contractId?: string])[] = [
  ['Unemployment above 5 % this year', 'e-unemployment-above-5'],
  ['Turnout above 60 %', 'e-turnout-above-60'],
  ['The hottest year on record', 'e-hottest-year'],
  ['Oil above 100 dollars this year', 'e-oil-above-100'],
  ['The lighthouse is lit again'],
  ['A comet is seen with the naked eye'],
  ['A first film wins best picture', 'e-best-picture-debut'],
  ['A new marathon record', 'e-marathon-record'],
  ['The champion keeps the title', 'e-chess-champion'],
];

export function seedsOfE(now: Millis): readonly MarketTerms[] {
  return SEEDS.map(([title, contractId], index) => ({
    ...termsOf(FIRST_OUTCOME + index, { title, neg_risk: false }, now),
    ...{ publishes_grid: true, closes_at: now + YEAR_MS, seeded: true },
    ...(contractId === undefined ? {} : { contract_id: contractId }),
  }));
}

export function newMarketOfE(
  { title, neg_risk }: NewMarket,
  now: Millis,
  reads: VenueReads,
): Omit<MarketTerms, 'publishes_grid' | 'closes_at' | 'seeded'> {
  let last = FIRST_OUTCOME;
  for (const { terms } of reads.markets()) last = Math.max(last, Number(terms.market_id));
  return termsOf(last + 1, { ...(title === undefined ? {} : { title }), neg_risk }, now);
}

function termsOf(
  outcome: number,
  { title = `Outcome ${outcome}`, neg_risk }: NewMarket,
  now: Millis,
): Omit<MarketTerms, 'publishes_grid' | 'closes_at' | 'seeded'> {
  const token_ids = [coinOf(outcome, 0), coinOf(outcome, 1)] as const;
  return {
    ...{ market_id: String(outcome), title, neg_risk, outcomes: OUTCOMES },
    ...{ token_ids, grid: GRID, listed_at: now },
  };
}

/** One side of an outcome. Orders, books and shares belong to a side. */
export interface VenueSide {
  readonly market_id: string;
  readonly outcome: OutcomeIndex;
}

export function encodingOf({ market_id: id, outcome }: VenueSide): number {
  return Number(id) * SIDES + outcome;
}

function coinOf(outcome: number, side: OutcomeIndex): string {
  return `#${encodingOf({ market_id: String(outcome), outcome: side })}`;
}

export function coinOfSide(side: VenueSide): string {
  return `#${encodingOf(side)}`;
}

/** The name that balances and transfers use. */
export function tokenOfSide(side: VenueSide): string {
  return `+${encodingOf(side)}`;
}

export function sideOfAsset(asset: number): VenueSide | undefined {
  return asset < FIRST_ASSET ? undefined : sideOfEncoding(asset - FIRST_ASSET);
}

/** Parses `#51` and `+51`. */
export function sideOfCoin(coin: string): VenueSide | undefined {
  const [, digits] = /^[#+](\d{1,15})$/.exec(coin) ?? [];
  return digits === undefined ? undefined : sideOfEncoding(Number(digits));
}

function sideOfEncoding(encoding: number): VenueSide | undefined {
  const side = encoding % SIDES;
  if (side !== 0 && side !== 1) return undefined;
  return { market_id: String((encoding - side) / SIDES), outcome: side };
}

/**
 * The published record of a market. The real venue's descriptions have such `name:value` pairs. All except `expiry`
 * are ours.
 */
export function outcomeRecord({ terms, status, changed_at }: ListedMarket): object {
  const { market_id: id, title, outcomes, closes_at, contract_id, grid, publishes_grid, neg_risk } = terms;
  const description = [
    `status:${status}`,
    `expiry:${closes_at}`,
    `listed:${terms.listed_at}`,
    `updated:${changed_at}`,
    `size:${decimal(grid.min_size)}`,
    ...(publishes_grid
      ? [
          `ticks:${grid.bands.map(({ start, end, step }) => [start, end, step].map(decimal).join('/')).join(',')}`,
        ]
      : []),
    ...(contract_id === undefined ? [] : [`contract:${contract_id}`]),
    ...(neg_risk ? ['neg_risk:true'] : []),
  ].join('|');
  return {
    ...{ outcome: Number(id), name: title, description },
    ...{ sideSpecs: outcomes.map((name) => ({ name })), quoteToken: COLLATERAL.coin },
  };
}

export function bookOf(side: VenueSide, reads: VenueReads, now: Millis): object {
  const levels = (direction: 'buy' | 'sell'): object[] =>
    reads
      .levels(side.market_id, side.outcome, direction, 'outcome')
      .map(({ price, size, orders }) => ({ px: decimal(price), sz: decimal(size), n: orders }));
  return { coin: coinOfSide(side), time: now, levels: [levels('buy'), levels('sell')] };
}

export function midOf(side: VenueSide, reads: VenueReads): string | undefined {
  const [bid] = reads.levels(side.market_id, side.outcome, 'buy', 'outcome');
  const [ask] = reads.levels(side.market_id, side.outcome, 'sell', 'outcome');
  if (bid === undefined || ask === undefined) return undefined;
  return decimal(Math.floor((bid.price + ask.price) / 2));
}
