import { cashOf, dollars, percent } from './scales.js';

/** What metrics take of a trade. */
export interface CountedTrade {
  readonly outcome_index: number;
  readonly price: number;
  readonly size: bigint;
}

/** Cash of some trades: each match once, on the taker's side. */
export interface TradeSums {
  readonly trades: number;
  readonly cash: bigint;
  /** Of the two outcomes that pressure compares. */
  readonly cash0: bigint;
  readonly cash1: bigint;
}

export function sumsOf(trades: readonly CountedTrade[], pair: readonly [number, number] = [0, 1]): TradeSums {
  const byOutcome = cashByOutcome(trades);
  return {
    trades: trades.length,
    cash: [...byOutcome.values()].reduce((sum, cash) => sum + cash, 0n),
    cash0: byOutcome.get(pair[0]) ?? 0n,
    cash1: byOutcome.get(pair[1]) ?? 0n,
  };
}

function cashByOutcome(trades: readonly CountedTrade[]): Map<number, bigint> {
  const byOutcome = new Map<number, bigint>();
  for (const { outcome_index: index, price, size } of trades) {
    byOutcome.set(index, (byOutcome.get(index) ?? 0n) + cashOf(price, size));
  }
  return byOutcome;
}

/** The two outcomes of most volume, the lower index first; of equal volumes the lower indices. */
export function mostTraded(trades: readonly CountedTrade[]): readonly [number, number] {
  const [first, second] = [...cashByOutcome(trades)]
    .sort(([left, some], [right, more]) => (some === more ? left - right : some > more ? -1 : 1))
    .map(([index]) => index);
  if (first === undefined) return [0, 1];
  if (second === undefined) return first === 0 ? [0, 1] : [0, first];
  return first < second ? [first, second] : [second, first];
}

/** As replies have it. */
export interface TradeMetrics {
  readonly volume_usd: number;
  readonly outcome_0_volume_usd: number;
  readonly outcome_1_volume_usd: number;
  readonly outcome_0_pressure_pct: number;
  readonly trade_count: number;
  readonly window_seconds: number;
  readonly coverage_pct: number;
  readonly source: 'external' | 'store';
  readonly indexing: false;
}

const BALANCED = 50;

export function metricsOf(
  { trades, cash, cash0, cash1 }: TradeSums,
  of: Pick<TradeMetrics, 'source' | 'window_seconds' | 'coverage_pct'>,
): TradeMetrics {
  const both = cash0 + cash1;
  return {
    volume_usd: dollars(cash),
    outcome_0_volume_usd: dollars(cash0),
    outcome_1_volume_usd: dollars(cash1),
    outcome_0_pressure_pct: both === 0n ? BALANCED : percent(cash0, both),
    trade_count: trades,
    ...of,
    indexing: false,
  };
}

/** Of a live read: what is whole is not known. */
export function externalMetrics(sums: TradeSums): TradeMetrics {
  const coverage_pct = sums.trades === 0 ? 0 : 100;
  return metricsOf(sums, { source: 'external', window_seconds: 86_400, coverage_pct });
}

/** From one trade to the next that is known; what traded between them is not. */
export interface TradeGap {
  readonly from: number;
  readonly to: number;
}

/** Where the given numbers of a market's trades are not consecutive. Trades without a number of their venue say nothing. */
export function gapsOf(trades: readonly { readonly source_ts: number; readonly seq: bigint }[]): TradeGap[] {
  const bySeq = [...trades].sort((left, right) => (left.seq < right.seq ? -1 : Number(left.seq > right.seq)));
  return bySeq.flatMap((trade, at) => {
    const next = bySeq[at + 1];
    if (next === undefined || next.seq - trade.seq <= 1n) return [];
    return [
      {
        from: Math.min(trade.source_ts, next.source_ts),
        to: Math.max(trade.source_ts, next.source_ts),
      },
    ];
  });
}
