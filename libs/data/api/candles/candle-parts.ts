import type { Provider } from '../../rules/providers.js';
import type { OnFault } from '#libs/platform/process/log.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { AlarmTable } from '../../store/alarm-table.js';
import type { CandleReader } from '../../store/candle-reader.js';
import type { CoverageReader } from '../../store/coverage-reader.js';
import type { MarketReader } from '../../store/market-reader.js';
import { CandleBatch } from './candle-batch.js';
import { CandleDesk } from './candle-desk.js';
import { CandleRebuilds } from './candle-rebuilds.js';
import { CandleReplies } from './candle-replies.js';
import type { CandlesPorts } from './candles.controller.js';

export interface CandleReaders {
  readonly markets: MarketReader;
  readonly candles: CandleReader;
  readonly coverage: CoverageReader;
  readonly alarms: AlarmTable;
  readonly clock: Clock;
  readonly onFault: OnFault;
  /** Called when a stored candle differs from the one computed from the trades. */
  readonly onApart: (provider: Provider, detail: string) => void;
}

/** Called once per process: both listeners share the cached candles. */
export function candleParts(readers: CandleReaders): CandlesPorts {
  const service = new CandleDesk({ ...readers, rebuilds: new CandleRebuilds(readers) });
  return {
    clock: readers.clock,
    batch: new CandleBatch({ ...readers, desk: service }),
    replies: new CandleReplies({ ...readers, desk: service }),
  };
}
