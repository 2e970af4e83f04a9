import type { MarketOutcome, VenueMarket } from '../../rules/markets.js';

/** The names that auctions use for a market's outcomes, by index. */
const CONTRACT_OUTCOMES = ['YES', 'NO'];

/** The vault's name for an outcome's tokens: contract and outcome, as in auctions. Only markets with a contract have one. */
export function vaultAsset(
  { contract_id: contract }: Pick<VenueMarket, 'contract_id'>,
  side: Pick<MarketOutcome, 'index'> | undefined,
): string | undefined {
  const outcome = side === undefined ? undefined : CONTRACT_OUTCOMES[side.index];
  return contract === undefined || outcome === undefined ? undefined : `${contract}/${outcome}`;
}
