import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { externalMetrics, gapsOf, metricsOf, mostTraded, sumsOf } from './trades.js';

const anyTrade = fc.record({
  outcome_index: fc.nat(3),
  price: fc.integer({ min: 0, max: 1_000_000 }),
  size: fc.bigInt({ min: 1n, max: 10n ** 12n }),
});
const anyTrades = fc.array(anyTrade, { maxLength: 20 });

/** A reference: the cash of one outcome's trades in whole micro-dollars, trade by trade. */
function slowCash(
  trades: readonly { outcome_index: number; price: number; size: bigint }[],
  outcome?: number,
): number {
  let sum = 0n;
  for (const trade of trades) {
    if (outcome !== undefined && trade.outcome_index !== outcome) continue;
    const twice = (2n * BigInt(trade.price) * trade.size) / 1_000_000n;
    sum += twice / 2n + (twice % 2n);
  }
  return Number(sum);
}

describe('metrics', () => {
  it('sum the cash of every match once, by outcome', () => {
    fc.assert(
      fc.property(anyTrades, fc.tuple(fc.nat(3), fc.nat(3)), (trades, pair) => {
        const sums = sumsOf(trades, pair);
        expect(Number(sums.cash)).toBe(slowCash(trades));
        expect(Number(sums.cash0)).toBe(slowCash(trades, pair[0]));
        expect(Number(sums.cash1)).toBe(slowCash(trades, pair[1]));
        expect(sums.trades).toBe(trades.length);
      }),
    );
  });

  it('show volumes in dollars and pressure in percent', () => {
    fc.assert(
      fc.property(anyTrades, (trades) => {
        const of = { source: 'store', window_seconds: 60, coverage_pct: 12.5 } as const;
        const metrics = metricsOf(sumsOf(trades), of);
        const [first, second] = [slowCash(trades, 0), slowCash(trades, 1)];
        expect(metrics).toMatchObject({ ...of, indexing: false, trade_count: trades.length });
        expect(metrics.volume_usd).toBeCloseTo(slowCash(trades) / 1e6, 6);
        expect(metrics.outcome_0_volume_usd).toBeCloseTo(first / 1e6, 6);
        expect(metrics.outcome_1_volume_usd).toBeCloseTo(second / 1e6, 6);
        const pressure = first + second === 0 ? 50 : (100 * first) / (first + second);
        expect(Math.abs(metrics.outcome_0_pressure_pct - pressure)).toBeLessThanOrEqual(0.000_000_6);
      }),
    );
  });

  it('of an empty window are zeros, with balanced pressure', () => {
    expect(externalMetrics(sumsOf([]))).toEqual({
      ...{ volume_usd: 0, outcome_0_volume_usd: 0, outcome_1_volume_usd: 0, outcome_0_pressure_pct: 50 },
      ...{ trade_count: 0, window_seconds: 86_400, coverage_pct: 0, source: 'external', indexing: false },
    });
    const sums = sumsOf([{ outcome_index: 0, price: 500_000, size: 3_000_000n }]);
    expect(externalMetrics(sums)).toMatchObject({
      volume_usd: 1.5,
      coverage_pct: 100,
      outcome_0_pressure_pct: 100,
    });
  });

  it('compare the two outcomes with the most volume, lower index first', () => {
    fc.assert(
      fc.property(anyTrades, (trades) => {
        const [low, high] = mostTraded(trades);
        expect(low).toBeLessThan(high);
        for (const other of [0, 1, 2, 3].filter((index) => index !== low && index !== high)) {
          expect(slowCash(trades, other)).toBeLessThanOrEqual(slowCash(trades, low));
          expect(slowCash(trades, other)).toBeLessThanOrEqual(slowCash(trades, high));
        }
      }),
    );
    expect(mostTraded([])).toEqual([0, 1]);
    expect(mostTraded([{ outcome_index: 2, price: 1, size: 1n }])).toEqual([0, 2]);
  });
});

describe('gaps', () => {
  /** A reference: walks all numbers from the first to the last, and finds the neighbours of missing ones. */
  function slowGaps(trades: readonly { source_ts: number; seq: bigint }[]): Set<string> {
    const gaps = new Set<string>();
    const timeOf = new Map(trades.map(({ seq, source_ts }) => [seq, source_ts]));
    const numbers = [...timeOf.keys()];
    for (let seq = 0n; seq <= 20n; seq += 1n) {
      const [before, after] = [numbers.filter((one) => one < seq), numbers.filter((one) => one > seq)];
      if (timeOf.has(seq) || before.length === 0 || after.length === 0) continue;
      const left = timeOf.get(before.reduce((a, b) => (a > b ? a : b)))!;
      const right = timeOf.get(after.reduce((a, b) => (a < b ? a : b)))!;
      gaps.add(JSON.stringify({ from: Math.min(left, right), to: Math.max(left, right) }));
    }
    return gaps;
  }

  it('lie between the neighbours of every missing number, in any order of arrival', () => {
    const numbered = fc.record({ seq: fc.bigInt({ min: 0n, max: 20n }), source_ts: fc.nat(1_000) });
    fc.assert(
      fc.property(fc.uniqueArray(numbered, { maxLength: 15, selector: ({ seq }) => seq }), (trades) => {
        expect(new Set(gapsOf(trades).map((gap) => JSON.stringify(gap)))).toEqual(slowGaps(trades));
      }),
      { numRuns: 500 },
    );
  });

  it('do not appear when the same number comes twice', () => {
    expect(gapsOf([5n, 5n, 6n].map((seq) => ({ seq, source_ts: 1 })))).toEqual([]);
  });
});
