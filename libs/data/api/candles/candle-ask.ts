import {
  type CandleWindow,
  clampedWindow,
  estimatedBars,
  isEmptyWindow,
  LOOKBACK_SECONDS,
  type Timeframe,
} from '../../rules/candles.js';
import { PROVIDER_FACTS, type Provider } from '../../rules/providers.js';
import { MICROS_PER_SECOND } from '../../rules/times.js';
import type { FoundMarket } from '../../store/market-reader.js';
import type { SeriesLabels } from './candle-text.js';

/** A request for candles, parsed but not checked against the market. */
export interface AskedCandles {
  readonly provider: Provider;
  readonly contract_id: string;
  readonly timeframe_seconds: Timeframe;
  readonly start: number;
  readonly end: number;
  readonly outcome: number;
  readonly rebuild: boolean;
}

/** What to read from the store. */
export interface PlannedCandles {
  readonly provider: Provider;
  /** After clamping. */
  readonly window: CandleWindow;
  /** The estimated number of bars in the window. */
  readonly bars: number;
  readonly isRebuild: boolean;
  /** Undefined where the contract is unknown. */
  readonly market: FoundMarket | undefined;
  readonly outcomeIndex: number;
  readonly labels: SeriesLabels;
  readonly now: number;
}

/** A request that parses but cannot be answered, and why. */
export interface MeaninglessAsk {
  readonly refused: string;
}

export const BACKWARDS = 'end must be after start';

/** `market` is the market found by the contract id. */
export function planOf(
  query: AskedCandles,
  market: FoundMarket | undefined,
  now: number,
): PlannedCandles | MeaninglessAsk {
  const { provider, contract_id, timeframe_seconds: timeframe, start, end, outcome, rebuild } = query;
  const window = clampedWindow({ start, end }, timeframe, now);
  if (window === undefined) return { refused: BACKWARDS };
  const outcomeIndex = market?.outcomeIndex ?? outcome;
  const found = market?.state.outcomes[outcomeIndex];
  if (market !== undefined && found === undefined)
    return { refused: `Unknown outcome: ${String(outcomeIndex)}` };
  const token_id = PROVIDER_FACTS[provider].isSingleBook ? undefined : (found?.token_id ?? null);
  return {
    ...{ provider, window, market, outcomeIndex, now, isRebuild: rebuild },
    bars: estimatedBars(window, timeframe, now),
    labels: { contract_id, timeframe, token_id },
  };
}

/** For a window that is too old to show, the first time that is shown. Without it, the reply would claim that nothing traded. */
export function shownFrom({ window, labels: { timeframe }, now }: PlannedCandles): number | undefined {
  if (window.start >= window.end || !isEmptyWindow(window, timeframe, now)) return undefined;
  return now - LOOKBACK_SECONDS[timeframe] * MICROS_PER_SECOND;
}
