import { parseDecimal, printDecimal, rescaled } from '#libs/base/decimals.js';
import { mirroredPrice } from '../../rules/candles.js';
import type { FoldedMarket, MarketResolution } from '../../rules/markets.js';
import type { Provider } from '../../rules/providers.js';
import { unit } from '../../rules/scales.js';
import type { OutcomeNow } from '../../store/price-reader.js';
import type { PerpetualTick } from '../../store/tick-table.js';
import { asOf, timeOrNull, unitOrNull } from './instrument-rows.js';

/** Ids and outcome names only. */
export interface ListedMarketRow {
  readonly market_id: string;
  readonly condition_id: string | null;
  readonly outcomes: readonly { readonly outcome: string; readonly token_id: string | null }[];
}

export function listedMarketRow({ market_id, details, outcomes }: FoldedMarket): ListedMarketRow {
  return {
    market_id,
    condition_id: details.condition_id ?? null,
    outcomes: outcomes.map(({ label, token_id = null }) => ({ outcome: label, token_id })),
  };
}

export interface SyntheticRow {
  readonly synthetic_id: string;
  readonly kind: 'complement';
  readonly legs: readonly {
    readonly provider: Provider;
    readonly contract_id: string;
    readonly weight: number;
  }[];
  readonly mark: number | null;
  readonly as_of: string | null;
}

/** The synthetic that pays when the first outcome of a single-book market does not. */
export function complementRow(market: FoldedMarket, first: OutcomeNow | undefined): SyntheticRow {
  const { provider, market_id: contract_id } = market;
  const price = first?.price?.price;
  return {
    synthetic_id: `complement:${provider}:${contract_id}`,
    kind: 'complement',
    legs: [{ provider, contract_id, weight: -1 }],
    mark: unitOrNull(price === undefined ? undefined : mirroredPrice(price)),
    as_of: timeOrNull(first === undefined ? undefined : asOf(market, first)),
  };
}

export interface ResolutionRow {
  readonly contract_id: string;
  readonly status: MarketResolution['status'];
  readonly outcome_index: number | null;
  readonly payout: readonly number[];
  readonly resolved_at: string | null;
  readonly settled_at: string | null;
  readonly source_url: string | null;
  readonly disputed: boolean;
}

export function resolutionRow(contract_id: string, resolution: MarketResolution): ResolutionRow {
  const { status, outcome_index, payouts, resolved_at, settled_at, source_url, disputed } = resolution;
  return {
    ...{ contract_id, status, outcome_index, payout: payouts.map(unit) },
    ...{ resolved_at: timeOrNull(resolved_at), settled_at: timeOrNull(settled_at), source_url, disputed },
  };
}

export interface PerpetualRow {
  readonly symbol: string;
  readonly mark: number | null;
  readonly index: number | null;
  readonly funding_rate: number | null;
  readonly next_funding_at: string | null;
  readonly open_interest: number | null;
}

export function perpetualRow({ symbol, price, content }: PerpetualTick): PerpetualRow {
  const { index, funding_rate, next_funding_at, open_interest } = content;
  return {
    symbol,
    mark: roundedNumber(price),
    index: roundedNumber(index),
    funding_rate: roundedNumber(funding_rate),
    next_funding_at: typeof next_funding_at === 'string' ? next_funding_at : null,
    open_interest: roundedNumber(open_interest),
  };
}

const PLACES = 6;
/** Of a rate, before it is rounded to six decimals like all numbers. */
const MOST_PLACES = 12;

/** Rounds a decimal text to six decimals. Goes through the printed form, so that the JSON number has no exponent. */
function roundedNumber(text: unknown): number | null {
  const exact = typeof text === 'string' ? parseDecimal(text, MOST_PLACES) : undefined;
  return exact === undefined ? null : Number(printDecimal(rescaled(exact, PLACES, 'half-up')));
}

export interface TickSizeRow {
  readonly provider: Provider;
  readonly contract_id: string;
  readonly asset_id: string | null;
  readonly tick_size: number | null;
  readonly min_price: number | null;
  readonly max_price: number | null;
  readonly bands: readonly { readonly start: number; readonly end: number; readonly step: number }[];
  readonly as_of: string | null;
}

/** From the newest MARKET event. */
export function tickSizeRow(
  { provider, details }: FoldedMarket,
  contract_id: string,
  asset_id: string | null,
): TickSizeRow {
  const { tick_size, min_price, max_price, bands = [] } = details.contract ?? {};
  return {
    ...{ provider, contract_id, asset_id, tick_size: unitOrNull(tick_size) },
    ...{ min_price: unitOrNull(min_price), max_price: unitOrNull(max_price) },
    bands: bands.map(({ start, end, step }) => ({ start: unit(start), end: unit(end), step: unit(step) })),
    as_of: timeOrNull(details.source_ts),
  };
}
