import type { ListedOutcome, MarketDataEvent, MarketEvent } from '../../rules/events.js';
import type { Provider } from '../../rules/providers.js';
import type { PricePath } from './prices.js';

/** When a market trades, and how often. Times are unix seconds. */
export interface TradingPhase {
  readonly from: number;
  readonly until: number;
  /** The market trades once in this many seconds. */
  readonly period: number;
}

/** Thin markets have single trades and no book; busy ones have several trades at once. */
export type Pace = 'thin' | 'steady' | 'busy';

/** A market of the seed with all its events. */
export interface SeedMarket {
  readonly provider: Provider;
  readonly market_id: string;
  /** Its key for `mixed`. */
  readonly key: number;
  readonly condition_id?: string;
  readonly outcomes: readonly ListedOutcome[];
  /** Its first event. */
  readonly listing: MarketEvent;
  /** MARKET, STATUS and RESOLUTION, ascending by `received_at`, the listing first. */
  readonly life: readonly MarketDataEvent[];
  readonly path: PricePath;
  readonly tick: number;
  readonly phases: readonly TradingPhase[];
  readonly pace: Pace;
}
