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

/** The body of a reply, and the providers whose data it shows. */
export interface Gathered<T> {
  readonly body: T;
  readonly providers: readonly Provider[];
}

interface KeyedMarket {
  readonly key: string;
  readonly market: FoundMarket;
}

/** Answers requests for many markets of any providers, each named by any of its ids. */
export class MarketBatches {
  constructor(private readonly ports: BatchPorts) {}

  /** In the order of the request. A market appears once, even if several of its ids are asked for. */
  async details(
    pairs: readonly MarketPair[],
  ): Promise<Gathered<{ readonly markets: readonly DetailsRow[] }>> {
    const requested = pairs.flatMap(({ market_id, provider_id }) => {
      const provider = providerOfNumber(provider_id);
      return provider === undefined ? [] : [{ id: market_id, provider }];
    });
    const found = await this.find(requested);
    const rows = new Map<number, DetailsRow>();
    for (const { id, provider } of requested) {
      const market = found.get(provider)?.get(id);
      if (market !== undefined && !rows.has(market.marketNo))
        rows.set(market.marketNo, detailsRow(market.state));
    }
    return { body: { markets: [...rows.values()] }, providers: [...found.keys()] };
  }

  /** By id as in the request. Markets without a price, and providers without batch prices, have no entry. */
  async prices(
    pairs: readonly MarketPair[],
    now: number,
  ): Promise<Gathered<Readonly<Record<string, BatchPrice>>>> {
    const requested = pairs.map(({ market_id, provider_id }) => {
      const provider = providerOfNumber(provider_id);
      if (provider === undefined) throw unknownProvider(provider_id);
      return { id: market_id, owner: provider_id, provider };
    });
    const keyed = [...byReplyKey(requested)].filter(
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
    requested: readonly { readonly id: string; readonly provider: Provider }[],
  ): Promise<ReadonlyMap<Provider, ReadonlyMap<string, FoundMarket>>> {
    const providers = [...new Set(requested.map(({ provider }) => provider))];
    return new Map(
      await Promise.all(
        providers.map(async (provider) => {
          const ids = requested.filter((each) => each.provider === provider).map(({ id }) => id);
          return [provider, await this.ports.markets.find(provider, ids)] as const;
        }),
      ),
    );
  }

  /** A token id gets the figures of its outcome; any other id gets those of the first outcome, with the volume of the market. */
  private async pricesOf(
    provider: Provider,
    requested: readonly KeyedMarket[],
    now: number,
  ): Promise<(readonly [string, BatchPrice])[]> {
    const markets = requested.map(({ market }) => market);
    const [prices, volumes] = await Promise.all([
      this.ports.prices.of(provider, markets, now),
      this.ports.volumes.totals(provider, markets),
    ]);
    return requested.flatMap(({ key, market: { marketNo, outcomeIndex } }, index) => {
      const figures: OutcomeNow | undefined = prices.get(marketNo)?.[outcomeIndex ?? 0];
      const total: TotalVolume | undefined = volumes[index];
      const price = figures && total && batchPrice(provider, figures, total);
      return price === undefined ? [] : [[key, price] as const];
    });
  }
}
