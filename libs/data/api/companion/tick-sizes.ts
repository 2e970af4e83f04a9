import { providerOf, type Provider } from '../../rules/providers.js';
import type { MarketReader } from '../../store/market-reader.js';
import { unknownProviderDetail } from '../refusals.js';
import { tickSizeRow, type TickSizeRow } from './contract-rows.js';
import { askedOutcomes } from './instrument-rows.js';

interface WantedContract {
  readonly contract_id: string;
  readonly asset_id?: string | undefined;
}

interface WantedItem extends WantedContract {
  readonly provider: string;
}

type ItemResult = { readonly index: number } & (TickSizeRow | { readonly error: string });

export interface BatchOfTickSizes {
  readonly results: readonly ItemResult[];
  /** The providers in the request. */
  readonly providers: readonly Provider[];
}

/** Reads the price grids of contracts, by any of their ids. */
export class TickSizes {
  constructor(private readonly markets: Pick<MarketReader, 'find'>) {}

  /** In the order of the request. Undefined for an unknown contract, and for an asset of another contract. */
  async of(
    provider: Provider,
    wanted: readonly WantedContract[],
  ): Promise<readonly (TickSizeRow | undefined)[]> {
    const found = await this.markets.find(
      provider,
      wanted.map(({ contract_id }) => contract_id),
    );
    return wanted.map(({ contract_id, asset_id }) => {
      const market = found.get(contract_id);
      if (market === undefined || askedOutcomes(market, asset_id).length === 0) return undefined;
      const ownToken = market.outcomeIndex === undefined ? null : contract_id;
      return tickSizeRow(market.state, contract_id, asset_id ?? ownToken);
    });
  }

  /** One query for each provider. */
  async batch(items: readonly WantedItem[]): Promise<BatchOfTickSizes> {
    const byProvider = new Map<Provider, { readonly index: number; readonly item: WantedItem }[]>();
    const results: ItemResult[] = [];
    for (const [index, item] of items.entries()) {
      const provider = providerOf(item.provider);
      if (provider === undefined) results[index] = { index, error: unknownProviderDetail(item.provider) };
      else byProvider.set(provider, [...(byProvider.get(provider) ?? []), { index, item }]);
    }
    for (const [provider, wanted] of byProvider) {
      const rows = await this.of(
        provider,
        wanted.map(({ item }) => item),
      );
      for (const [at, { index, item }] of wanted.entries()) {
        const row = rows[at];
        results[index] =
          row === undefined ? { index, error: contractNotFound(item.contract_id) } : { index, ...row };
      }
    }
    return { results, providers: [...byProvider.keys()] };
  }
}

export function contractNotFound(contractId: string): string {
  return `Contract not found: ${contractId}`;
}
