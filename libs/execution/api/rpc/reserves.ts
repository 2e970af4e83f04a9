import type { ReserveRow } from '../../projections/reader/ledger-reader.js';
import { printMicros, type Micros } from '../../rules/micros.js';
import { CAPABILITIES, type VenueId } from '../../rules/venues.js';
import type { VenueBalances } from '../../venues/port.js';
import type { ExecutionParts } from '../execution-parts.js';
import type { Venues } from '../venues.js';
import { vaultAsset } from './vault-asset.js';

interface Reserve {
  owed: Micros;
  issued: Micros;
  inTransit: Micros;
  observed: Micros;
}

/**
 * Compares what the vault owes with what its accounts hold. A contract of auctions and a venue's outcome are one asset.
 * Assets that the ledger does not owe have rows too. If one venue cannot be read, the report fails, since it would prove nothing.
 */
export async function reserveRows({ venues, opened }: ExecutionParts, request_id: string): Promise<object[]> {
  const owed = await opened.reads.ledger.reserves();
  const rows: object[] = [];
  for (const venue of venues.ids) {
    const balances = await opened.executor.told<'vault_balances'>({
      op: 'vault_balances',
      request_id,
      venue,
    });
    rows.push(...(await rowsOf(venue, owed, balances, venues)));
  }
  return rows;
}

async function rowsOf(
  venue: VenueId,
  owed: readonly ReserveRow[],
  { cash, tokens }: VenueBalances,
  venues: Venues,
): Promise<object[]> {
  const money = CAPABILITIES[venue].settlement_currency;
  const reserves = new Map<string, Reserve>();
  const reserveOf = (asset: string): Reserve => {
    const reserve = reserves.get(asset) ?? { owed: 0n, issued: 0n, inTransit: 0n, observed: 0n };
    reserves.set(asset, reserve);
    return reserve;
  };
  for (const { exchangeId, asset, ...amounts } of owed) {
    if (exchangeId !== venue) continue;
    const reserve = reserveOf(asset.startsWith('#') ? await contractOfToken(venue, asset, venues) : asset);
    reserve.owed += amounts.owed;
    reserve.issued += amounts.issued;
    reserve.inTransit += amounts.inTransit;
  }
  for (const { value } of cash) reserveOf(money).observed += value;
  for (const { market_id, outcome, token_id, quantity } of tokens) {
    const market = await venues.market(venue, market_id);
    const side = market.outcomes.find((one) => one.outcome === outcome);
    const asset = vaultAsset(market, side) ?? token_id ?? `${market_id}:${outcome}`;
    reserveOf(asset).observed += quantity;
  }
  return [...reserves].map(([asset, reserve]) => shown(venue, asset, reserve));
}

function shown(exchangeId: VenueId, asset: string, { owed, issued, inTransit, observed }: Reserve): object {
  return {
    ...{
      exchangeId,
      asset,
      owed: printMicros(owed),
      issued: printMicros(issued),
      inTransit: printMicros(inTransit),
    },
    ...{ observed: printMicros(observed), difference: printMicros(observed + issued - owed) },
  };
}

/** Tokens that users moved into the vault have the venue's own name there. */
async function contractOfToken(venue: VenueId, token: string, venues: Venues): Promise<string> {
  const market = await venues.market(venue, token);
  const side = market.outcomes.find(({ token_id }) => token_id === token);
  return vaultAsset(market, side) ?? token;
}
