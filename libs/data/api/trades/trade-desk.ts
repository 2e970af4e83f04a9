import { type Coverage, coverageOf, coveragePercent } from '../../rules/coverage.js';
import type { EventPlace } from '../../rules/order.js';
import type { Provider } from '../../rules/providers.js';
import { metricsOf, type TradeMetrics, type TradeSums } from '../../rules/trades.js';
import { type WindowPart, windowUpTo } from '../../rules/window-parts.js';
import type { CoverageReader, TradeHistory } from '../../store/coverage-reader.js';
import { instrumentOf, ofInstrument } from '../../store/instruments.js';
import type { FoundMarket, MarketReader } from '../../store/market-reader.js';
import type { StoredTrade, TradeReader } from '../../store/trade-reader.js';
import type { VolumeReader } from '../../store/volume-reader.js';

export interface TradeDeskPorts {
  readonly markets: Pick<MarketReader, 'find'>;
  readonly trades: Pick<TradeReader, 'page' | 'oldest'>;
  readonly volumes: Pick<VolumeReader, 'between'>;
  readonly coverage: Pick<CoverageReader, 'of'>;
}

export interface AskedTrades {
  readonly provider: Provider;
  readonly contract_id: string;
  /** Limits the trades to one outcome. */
  readonly token_id?: string | undefined;
  readonly window_seconds: number;
  /** Microseconds, exclusive. */
  readonly before?: number | undefined;
}

/** Which page of trades. */
export interface AskedPage {
  readonly limit: number;
  readonly place: EventPlace | undefined;
}

export interface TradeMetricsRead {
  readonly metrics: TradeMetrics;
  readonly coverage: Coverage;
  /** The time of the contract's oldest trade. */
  readonly oldest: number | undefined;
}

export interface TradePageRead extends TradeMetricsRead {
  readonly market: FoundMarket | undefined;
  readonly trades: readonly StoredTrade[];
  readonly hasMore: boolean;
}

/** Reads trades of a contract from the store, with metrics and coverage. */
export class TradeDesk {
  constructor(private readonly ports: TradeDeskPorts) {}

  async metrics(query: AskedTrades, now: number): Promise<TradeMetricsRead> {
    return this.metricsOf(await this.find(query), query, now);
  }

  async page(query: AskedTrades, { limit, place }: AskedPage, now: number): Promise<TradePageRead> {
    const market = await this.find(query);
    const [read, rows] = await Promise.all([
      this.metricsOf(market, query, now),
      this.rows(shownOf(market, query), windowOf(query, now), { limit: limit + 1, place }),
    ]);
    return { ...read, market, trades: rows.slice(0, limit), hasMore: rows.length > limit };
  }

  private async rows(
    instruments: readonly number[],
    window: WindowPart,
    { limit, place }: AskedPage,
  ): Promise<readonly StoredTrade[]> {
    return instruments.length === 0 ? [] : this.ports.trades.page(instruments, window, limit, place);
  }

  private async find({ provider, contract_id }: AskedTrades): Promise<FoundMarket | undefined> {
    return (await this.ports.markets.find(provider, [contract_id])).get(contract_id);
  }

  private async metricsOf(
    market: FoundMarket | undefined,
    query: AskedTrades,
    now: number,
  ): Promise<TradeMetricsRead> {
    const window = windowOf(query, now);
    const history = await this.historyOf(market, window, now);
    const sums = await this.sums(query.provider, shownOf(market, query), window);
    const { window_seconds } = query;
    const { oldest, gaps, from } = history;
    const hasTrades = sums.trades > 0;
    const coverage_pct = coveragePercent({ window_seconds, now, hasTrades, oldest, gaps });
    return {
      metrics: metricsOf(sums, { source: 'store', window_seconds, coverage_pct }),
      coverage: coverageOf({ start: window.start, end: window.end - 1 }, from, gaps),
      oldest,
    };
  }

  private async sums(
    provider: Provider,
    instruments: readonly number[],
    window: WindowPart,
  ): Promise<TradeSums> {
    const found = await this.ports.volumes.between(provider, instruments, window);
    const byOutcome = new Map(
      [...found].map(([instrument, { cash }]) => [ofInstrument(instrument).outcomeIndex, cash]),
    );
    const all = [...found.values()];
    return {
      trades: Number(all.reduce((sum, { trades }) => sum + trades, 0n)),
      cash: all.reduce((sum, { cash }) => sum + cash, 0n),
      cash0: byOutcome.get(0) ?? 0n,
      cash1: byOutcome.get(1) ?? 0n,
    };
  }

  /** Gaps of the whole window: coverage does not depend on where a page begins. */
  private async historyOf(
    market: FoundMarket | undefined,
    { start }: WindowPart,
    now: number,
  ): Promise<TradeHistory> {
    if (market === undefined) return { from: null, oldest: undefined, gaps: [] };
    const history = await this.ports.coverage.of(market, { start, end: now }, now);
    if (market.outcomeIndex === undefined) return history;
    const oldest = await this.ports.trades.oldest(instrumentsOf(market));
    return { ...history, oldest };
  }
}

/** The instruments that a contract id names: one outcome for a token id, all outcomes for a market or condition id. */
function instrumentsOf({ marketNo, outcomeIndex, state }: FoundMarket): number[] {
  const all = state.outcomes.map((_outcome, index) => index);
  return (outcomeIndex === undefined ? all : [outcomeIndex]).map((index) => instrumentOf(marketNo, index));
}

/** Empty if the token belongs to another market. */
function shownOf(market: FoundMarket | undefined, { token_id }: AskedTrades): number[] {
  if (market === undefined) return [];
  const instruments = instrumentsOf(market);
  if (token_id === undefined) return instruments;
  const index = market.state.names.findIndex(({ token_ids }) => token_ids.includes(token_id));
  return instruments.filter((instrument) => instrument === instrumentOf(market.marketNo, index));
}

/** Empty if `before` is earlier than its start. */
function windowOf({ window_seconds, before }: AskedTrades, now: number): WindowPart {
  const { start, end } = windowUpTo(now, window_seconds);
  return { start, end: Math.max(start, Math.min(end, before ?? end)) };
}
