import { PROVIDER_FACTS } from '../../rules/providers.js';
import { cashOf, cents, contracts, dollars } from '../../rules/scales.js';
import { unixSeconds } from '../../rules/times.js';
import type { FoundMarket } from '../../store/market-reader.js';
import type { StoredTrade } from '../../store/trade-reader.js';

/** A row of `/trades/history`. */
export interface ShownTrade {
  readonly trade_id: string;
  readonly timestamp: number;
  readonly price: number;
  readonly size: number;
  readonly notional_usd: number;
  readonly outcome_index: number;
  readonly outcome: string | null;
  readonly side: string | null;
  readonly maker: string | null;
  readonly taker: string | null;
  readonly tx_hash: string | null;
  readonly source: 'store';
}

/** For a venue that shows no wallets, none are shown here, even if they were recorded. */
export function shownTrade(
  { state: { provider, outcomes } }: FoundMarket,
  { source_id, source_ts, outcome_index, price, size, side, maker, taker, tx_hash }: StoredTrade,
): ShownTrade {
  const wallets = PROVIDER_FACTS[provider].showsWallets
    ? { maker, taker, tx_hash }
    : { maker: null, taker: null, tx_hash: null };
  return {
    ...{ trade_id: source_id, timestamp: unixSeconds(source_ts), price: cents(price) },
    ...{ size: contracts(size), notional_usd: dollars(cashOf(price, size)) },
    ...{ outcome_index, outcome: outcomes[outcome_index]?.label ?? null, side },
    ...wallets,
    source: 'store',
  };
}
