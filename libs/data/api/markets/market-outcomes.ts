import type { Provider } from '../../rules/providers.js';
import type { FoundMarket, MarketReader } from '../../store/market-reader.js';
import type { PriceReader } from '../../store/price-reader.js';
import type { VolumeReader } from '../../store/volume-reader.js';
import { refuseUpstream } from '../upstream/refusals.js';
import type { Gathered } from './market-batches.js';
import { shownOf } from './market-facts.js';
import { readLive, type LiveMarkets } from './metadata-reads.js';
import { liveOutcomeRows, outcomeRows, type OutcomeRow } from './outcome-rows.js';

export interface OutcomesWish {
  readonly market_id: string;
  readonly provider: Provider;
  readonly include_closed: boolean;
}

export interface OutcomesPorts {
  readonly markets: Pick<MarketReader, 'find' | 'ofEvent'>;
  readonly prices: Pick<PriceReader, 'of'>;
  readonly volumes: Pick<VolumeReader, 'window'>;
  readonly live: LiveMarkets;
}

export interface OutcomesBody {
  readonly event_id: string | null;
  readonly event_name: string | null;
  readonly is_grouped: true;
  readonly provider: Provider;
  readonly outcomes: readonly OutcomeRow[];
}

const DAY_SECONDS = 86_400;

/** Lists the outcomes of all markets of the event that a market belongs to. */
export class MarketOutcomes {
  constructor(private readonly ports: OutcomesPorts) {}

  async of(query: OutcomesWish, now: number): Promise<Gathered<OutcomesBody>> {
    const { market_id, provider } = query;
    const market = (await this.ports.markets.find(provider, [market_id])).get(market_id);
    return market === undefined ? this.unindexed(query) : this.indexed(market, query, now);
  }

  private async indexed(
    market: FoundMarket,
    { provider, include_closed }: OutcomesWish,
    now: number,
  ): Promise<Gathered<OutcomesBody>> {
    const { markets, prices, volumes } = this.ports;
    const { event_id = null, event_name = null } = market.state.details;
    const all = event_id === null ? [market] : await markets.ofEvent(provider, event_id);
    const shown = shownOf(all, include_closed);
    const [nows, traded] = await Promise.all([
      prices.of(provider, shown, now),
      volumes.window(provider, shown, { seconds: DAY_SECONDS, now }),
    ]);
    const outcomes = shown.flatMap((each) =>
      outcomeRows(each, { now: nows.get(each.marketNo) ?? [], volumes: traded.get(each.marketNo) ?? [] }),
    );
    return { body: { event_id, event_name, is_grouped: true, provider, outcomes }, providers: [provider] };
  }

  /** Only venue_a is read live. For other venues, and for a market unknown there, the list is empty. */
  private async unindexed({
    market_id,
    provider,
    include_closed,
  }: OutcomesWish): Promise<Gathered<OutcomesBody>> {
    const empty = { event_id: null, event_name: null, is_grouped: true, provider, outcomes: [] } as const;
    if (provider !== 'venue_a') return { body: empty, providers: [provider] };
    const read = await readLive(market_id, provider, this.ports.live);
    if (!read.ok) {
      if (read.fault === 'not-found') return { body: empty, providers: [] };
      throw refuseUpstream(provider, read.fault, market_id);
    }
    const { event_id, event_name, active } = read.value;
    const isShown = include_closed || active !== false;
    const outcomes = isShown ? liveOutcomeRows(market_id, read.value) : [];
    return { body: { ...empty, event_id, event_name, outcomes }, providers: [] };
  }
}
