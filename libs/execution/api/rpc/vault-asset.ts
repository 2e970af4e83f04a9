import type { MarketOutcome, VenueMarket } from '../../rules/markets.js';

/** The auctions' names of a market's outcomes, by index. */
const CONTRACT_OUTCOMES = ['YES', 'NO'];

/** What the vault calls the tokens of an outcome: contract and outcome of the auctions, who trade the markets that have one. */
export function vaultAsset(
  { contract_id: contract }: Pick<VenueMarket, 'contract_id'>,
  side: Pick<MarketOutcome, 'index'> | undefined,
): string | undefined {
  const outcome = side === undefined ? undefined : CONTRACT_OUTCOMES[side.index];
  return contract === undefined || outcome === undefined ? undefined : `${contract}/${outcome}`;
}
