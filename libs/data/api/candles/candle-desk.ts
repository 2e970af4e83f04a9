import type { Bar, CandleWindow } from '../../rules/candles.js';
import { type Coverage, coverageOf } from '../../rules/coverage.js';
import { MICROS_PER_SECOND } from '../../rules/times.js';
import { type CandleReader, type CandleSeries, placeOf } from '../../store/candle-reader.js';
import type { CoverageReader, TradeHistory, VersionedHistory } from '../../store/coverage-reader.js';
import type { FoundMarket } from '../../store/market-reader.js';
import { type PlannedCandles, shownFrom } from './candle-ask.js';
import { candleTexts } from './candle-text.js';
import type { CandleRebuilds } from './candle-rebuilds.js';

export interface CandleDeskPorts {
  readonly candles: Pick<CandleReader, 'read'>;
  readonly coverage: Pick<CoverageReader, 'of' | 'versioned'>;
  readonly rebuilds: CandleRebuilds;
}

export interface VersionedCoverage extends Pick<VersionedHistory, 'version' | 'named'> {
  readonly coverage: Coverage;
}

/** The most bars in memory for one request. A longer window is read in several steps. */
const PAGE_BARS = 10_000;
/** Rebuilding reads trades, which may be many more than the candles made from them. */
const REBUILT_SECONDS = 7 * 86_400;

const NO_COVERAGE: Coverage = { isComplete: false, history_from: null, gaps: 0 };

/** Reads candles and their coverage. Later reads never return older data. */
export class CandleDesk {
  constructor(private readonly ports: CandleDeskPorts) {}

  /** The coverage of the whole window. Read before the candles, so that it never claims more than they contain. */
  async coverage(plan: PlannedCandles): Promise<Coverage> {
    const { market, window, now } = plan;
    if (market === undefined) return NO_COVERAGE;
    return coverageIn(plan, await this.ports.coverage.of(market, window, now));
  }

  /** Coverage with a version. As long as the version stays the same, texts read after this are still right. */
  async versioned(plan: PlannedCandles, market: FoundMarket): Promise<VersionedCoverage> {
    const { provider, outcomeIndex, window, now, labels } = plan;
    const { instrument } = placeOf({ provider, marketNo: market.marketNo, outcomeIndex });
    const { contract_id } = labels;
    const history = await this.ports.coverage.versioned(market, window, now, { contract_id, instrument });
    const { version, named } = history;
    return { coverage: coverageIn(plan, history), version, named };
  }

  /** Yields non-empty JSON texts of candles, comma-separated inside; the caller adds the commas between texts. */
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

function coverageIn(plan: PlannedCandles, { from, gaps }: Omit<TradeHistory, 'oldest'>): Coverage {
  const shown = from === null ? null : Math.max(from, shownFrom(plan) ?? from);
  return coverageOf(plan.window, shown, gaps);
}

function* stepsOf({ window, labels: { timeframe }, isRebuild }: PlannedCandles): Generator<CandleWindow> {
  const most = isRebuild ? Math.ceil(REBUILT_SECONDS / timeframe) : PAGE_BARS;
  const step = Math.min(most, PAGE_BARS) * timeframe * MICROS_PER_SECOND;
  for (let { start } = window; start < window.end; start += step) {
    yield { start, end: Math.min(start + step, window.end) };
  }
}
