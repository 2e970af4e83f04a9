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
    const { market, window, now } = plan;
    if (market === undefined) return NOTHING_KNOWN;
    return coverageIn(plan, await this.ports.coverage.of(market, window, now));
  }

  /** With what says whether texts that are read after this still hold. */
  async versioned(plan: PlannedCandles, market: FoundMarket): Promise<VersionedCoverage> {
    const { provider, outcomeIndex, window, now, labels } = plan;
    const { instrument } = placeOf({ provider, marketNo: market.marketNo, outcomeIndex });
    const { contract_id } = labels;
    const history = await this.ports.coverage.versioned(market, window, now, { contract_id, instrument });
    const { version, named } = history;
    return { coverage: coverageIn(plan, history), version, named };
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
