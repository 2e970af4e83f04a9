import { PROVIDER_FACTS, providerOfNumber, type Provider } from '../../rules/providers.js';
import type { FoundMarket, MarketReader } from '../../store/market-reader.js';
import type { OutcomeNow, PriceReader } from '../../store/price-reader.js';
import type { TotalVolume, VolumeReader } from '../../store/volume-reader.js';
import { unknownProvider } from '../refusals.js';
import { batchPrice, type BatchPrice } from './batch-price.js';
import { detailsRow, type DetailsRow } from './market-facts.js';
import { byReplyKey } from './reply-keys.js';

export interface MarketPair {
  readonly market_id: string;
  readonly provider_id: number;
}

export interface BatchPorts {
  readonly markets: Pick<MarketReader, 'find'>;
  readonly prices: Pick<PriceReader, 'of'>;
  readonly volumes: Pick<VolumeReader, 'totals'>;
}

/** What a reply holds, and whose data that is. */
export interface Gathered<T> {
  readonly body: T;
  readonly providers: readonly Provider[];
}

interface KeyedMarket {
  readonly key: string;
  readonly market: FoundMarket;
}

/** Many markets of any providers, each looked up by any of its ids. */
export class MarketBatches {
  constructor(private readonly ports: BatchPorts) {}

  /** In the order of the request, a market once, whichever of its ids it is asked by. */
  async details(
    pairs: readonly MarketPair[],
  ): Promise<Gathered<{ readonly markets: readonly DetailsRow[] }>> {
    const asked = pairs.flatMap(({ market_id, provider_id }) => {
      const provider = providerOfNumber(provider_id);
      return provider === undefined ? [] : [{ id: market_id, provider }];
    });
    const found = await this.find(asked);
    const rows = new Map<number, DetailsRow>();
    for (const { id, provider } of asked) {
      const market = found.get(provider)?.get(id);
      if (market !== undefined && !rows.has(market.marketNo))
        rows.set(market.marketNo, detailsRow(market.state));
    }
    return { body: { markets: [...rows.values()] }, providers: [...found.keys()] };
  }

  /** By id as requested. Without a price, or at a provider that has no batch prices, there is no entry. */
  async prices(
    pairs: readonly MarketPair[],
    now: number,
  ): Promise<Gathered<Readonly<Record<string, BatchPrice>>>> {
    const asked = pairs.map(({ market_id, provider_id }) => {
      const provider = providerOfNumber(provider_id);
      if (provider === undefined) throw unknownProvider(provider_id);
      return { id: market_id, owner: provider_id, provider };
    });
    const keyed = [...byReplyKey(asked)].filter(
      ([, { provider }]) => PROVIDER_FACTS[provider].batchPrices !== null,
    );
    const found = await this.find(keyed.map(([, each]) => each));
    const entries = new Map<string, BatchPrice>();
    for (const [provider, byId] of found) {
      const markets = keyed.flatMap(([key, { id, provider: its }]) => {
        const market = its === provider ? byId.get(id) : undefined;
        return market === undefined ? [] : [{ key, market }];
      });
      for (const [key, price] of await this.pricesOf(provider, markets, now)) entries.set(key, price);
    }
    const inOrder = keyed.flatMap(([key]) => {
      const price = entries.get(key);
      return price === undefined ? [] : [[key, price] as const];
    });
    return { body: Object.fromEntries(inOrder), providers: [...found.keys()] };
  }

  private async find(
    asked: readonly { readonly id: string; readonly provider: Provider }[],
  ): Promise<ReadonlyMap<Provider, ReadonlyMap<string, FoundMarket>>> {
    const providers = [...new Set(asked.map(({ provider }) => provider))];
    return new Map(
      await Promise.all(
        providers.map(async (provider) => {
          const ids = asked.filter((each) => each.provider === provider).map(({ id }) => id);
          return [provider, await this.ports.markets.find(provider, ids)] as const;
        }),
      ),
    );
  }

  /** A token has the price, the volume and the liquidity of its outcome; every other id those of the market. */
  private async pricesOf(
    provider: Provider,
    asked: readonly KeyedMarket[],
    now: number,
  ): Promise<(readonly [string, BatchPrice])[]> {
    const markets = asked.map(({ market }) => market);
    const [prices, volumes] = await Promise.all([
      this.ports.prices.of(provider, markets, now),
      this.ports.volumes.totals(provider, markets),
    ]);
    return asked.flatMap(({ key, market: { marketNo, outcomeIndex } }, index) => {
      const figures: OutcomeNow | undefined = prices.get(marketNo)?.[outcomeIndex ?? 0];
      const total: TotalVolume | undefined = volumes[index];
      const price = figures && total && batchPrice(provider, figures, total);
      return price === undefined ? [] : [[key, price] as const];
    });
  }
}
