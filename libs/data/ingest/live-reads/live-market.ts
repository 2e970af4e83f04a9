import type { MarketEvent } from '../../rules/events.js';
import { contracts, unit } from '../../rules/scales.js';
import { isoTime } from '../../rules/times.js';
import type { ShownMarket } from './port.js';

export interface LiveMarketNow {
  readonly isActive: boolean;
  /** By outcome, in micro-dollars; null if the venue shows no price. */
  readonly prices: readonly (number | null)[];
}

type MarketTerms = Omit<MarketEvent, 'type' | 'provider' | 'source_id' | 'source_ts' | 'received_at'>;

/** Converts a market as its venue describes it into the format of live reads. */
export function liveMarketOf(market: MarketTerms, { isActive, prices }: LiveMarketNow): ShownMarket {
  const { market_id: id, name: title, contract, resolution_rules: rules, expires_at } = market;
  return {
    ...{ id, title, description: market.description ?? null },
    rules_primary: rules?.primary ?? null,
    rules_secondary: rules?.secondary ?? null,
    rules_source: rules?.source ?? null,
    tick_size: unitOf(contract?.tick_size),
    min_price: unitOf(contract?.min_price),
    max_price: unitOf(contract?.max_price),
    lot_size: contract?.lot_size === undefined ? null : contracts(contract.lot_size),
    quote_currency: contract?.quote_currency ?? null,
    expires_at: expires_at === undefined ? null : isoTime(expires_at),
    icon: market.icon ?? null,
    banner: market.banner ?? null,
    url: market.external_url ?? null,
    active: isActive,
    outcomes: market.outcomes.map(({ label, token_id }, index) => ({
      ...{ label, token_id: token_id ?? null },
      price: unitOf(prices[index]),
    })),
    event_id: market.event_id ?? null,
    event_name: market.event_name ?? null,
  };
}

function unitOf(price: number | null | undefined): number | null {
  return price === undefined || price === null ? null : unit(price);
}
