import { cashOf, dollars, percent } from './scales.js';

/** The fields of a trade that metrics need. */
export interface CountedTrade {
  readonly outcome_index: number;
  readonly price: number;
  readonly size: bigint;
}

/** Sums of trades: each match counts once, on the taker's side. */
export interface TradeSums {
  readonly trades: number;
  readonly cash: bigint;
  /** Cash of the two outcomes that pressure compares. */
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

/** The two outcomes with the most volume, lower index first. Ties go to the lower indices. */
export function mostTraded(trades: readonly CountedTrade[]): readonly [number, number] {
  const [first, second] = [...cashByOutcome(trades)]
    .sort(([left, some], [right, more]) => (some === more ? left - right : some > more ? -1 : 1))
    .map(([index]) => index);
  if (first === undefined) return [0, 1];
  if (second === undefined) return first === 0 ? [0, 1] : [0, first];
  return first < second ? [first, second] : [second, first];
}

/** In the form of replies. */
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

/** Metrics of a live read, which cannot know its coverage. */
export function externalMetrics(sums: TradeSums): TradeMetrics {
  const coverage_pct = sums.trades === 0 ? 0 : 100;
  return metricsOf(sums, { source: 'external', window_seconds: 86_400, coverage_pct });
}

/** The time from one known trade to the next, with trades missing in between. */
export interface TradeGap {
  readonly from: number;
  readonly to: number;
}

/** Gaps where the numbers of a market's trades are not consecutive. Trades without a venue's number must be left out. */
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
