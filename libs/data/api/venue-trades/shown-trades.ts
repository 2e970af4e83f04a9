import { MICROS_PER_SECOND } from '../../rules/times.js';
import { externalMetrics, mostTraded, sumsOf } from '../../rules/trades.js';
import type { LiveTrade, LiveTrades } from '../upstream/answers.js';

/** In unix seconds, both ends included. */
export interface TradeSpan {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** All trades of the page unchanged; the metrics count only those in the span. */
export function shownOfB({ trades, cursor }: LiveTrades, span: TradeSpan): object {
  return { trades: rawOf(trades), cursor, metrics: externalMetrics(sumsOf(within(trades, span))) };
}

/**
 * Trades and metrics are both limited to the span and to `limit`, whatever the venue sends. The metrics compare the two outcomes
 * with the most volume.
 */
export function shownOfA({ trades }: LiveTrades, span: TradeSpan, limit: number): object {
  const shown = within(trades, span).slice(0, limit);
  return { trades: rawOf(shown), metrics: externalMetrics(sumsOf(shown, mostTraded(shown))) };
}

function within(trades: readonly LiveTrade[], { from, to }: TradeSpan): readonly LiveTrade[] {
  return trades.filter(
    ({ ts }) =>
      (from === undefined || ts >= from * MICROS_PER_SECOND) &&
      (to === undefined || ts <= to * MICROS_PER_SECOND),
  );
}

function rawOf(trades: readonly LiveTrade[]): object[] {
  return trades.map(({ raw }) => raw);
}
