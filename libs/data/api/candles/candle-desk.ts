import type { Bar, CandleWindow } from '../../rules/candles.js';
import { type Coverage, coverageOf } from '../../rules/coverage.js';
import { MICROS_PER_SECOND } from '../../rules/times.js';
import type { CandleReader, CandleSeries } from '../../store/candle-reader.js';
import type { CoverageReader } from '../../store/coverage-reader.js';
import { type PlannedCandles, shownFrom } from './candle-ask.js';
import { candleTexts } from './candle-text.js';
import type { CandleRebuilds } from './candle-rebuilds.js';

export interface CandleDeskPorts {
  readonly candles: Pick<CandleReader, 'read'>;
  readonly coverage: Pick<CoverageReader, 'of'>;
  readonly rebuilds: CandleRebuilds;
}

/** So many at once are kept in memory of any request; a longer window is read in several steps. */
const PAGE_BARS = 10_000;
/** Trades may be many more than the candles that they come to. */
const REBUILT_SECONDS = 7 * 86_400;

const NOTHING_KNOWN: Coverage = { isComplete: false, history_from: null, gaps: 0 };

/** Reads what was planned. What is read later is never older. */
export class CandleDesk {
  constructor(private readonly ports: CandleDeskPorts) {}

  /** Of the whole window. Asked for before the candles: what they have more than this is no harm. */
  async coverage(plan: PlannedCandles): Promise<Coverage> {
    if (plan.market === undefined) return NOTHING_KNOWN;
    const { from, gaps } = await this.ports.coverage.of(plan.market, plan.window, plan.now);
    const shown = from === null ? null : Math.max(from, shownFrom(plan) ?? from);
    return coverageOf(plan.window, shown, gaps);
  }

  /** Texts of candles that are separated by commas, one after the other, without those between texts. None is empty. */
  async *texts(plan: PlannedCandles): AsyncGenerator<string> {
    const { market, bars, labels, provider, outcomeIndex } = plan;
    if (market === undefined || bars === 0) return;
    const series = { provider, marketNo: market.marketNo, outcomeIndex, timeframe: labels.timeframe };
    for (const window of stepsOf(plan)) {
      const read = await this.read(series, window, plan);
      if (read.length > 0) yield candleTexts(labels, read);
    }
  }

  private read(series: CandleSeries, window: CandleWindow, plan: PlannedCandles): Promise<readonly Bar[]> {
    return plan.isRebuild
      ? this.ports.rebuilds.rebuild(series, window, plan.now)
      : this.ports.candles.read(series, window);
  }
}

function* stepsOf({ window, labels: { timeframe }, isRebuild }: PlannedCandles): Generator<CandleWindow> {
  const most = isRebuild ? Math.ceil(REBUILT_SECONDS / timeframe) : PAGE_BARS;
  const step = Math.min(most, PAGE_BARS) * timeframe * MICROS_PER_SECOND;
  for (let { start } = window; start < window.end; start += step) {
    yield { start, end: Math.min(start + step, window.end) };
  }
}
