import type { Provider } from '../rules/providers.js';
import type { Pool } from 'pg';
import type { OnFault } from '#libs/platform/process/log.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { MICROS_PER_SECOND } from '../rules/times.js';
import { AlarmTable } from '../store/alarm-table.js';
import { BackfillTable } from '../store/backfill-table.js';
import { CandleReader } from '../store/candle-reader.js';
import { CoverageReader } from '../store/coverage-reader.js';
import { FlagTable } from '../store/flag-table.js';
import { FreshnessTable } from '../store/freshness-table.js';
import { MarketReader } from '../store/market-reader.js';
import { PauseTable } from '../store/pause-table.js';
import { PriceReader } from '../store/price-reader.js';
import { RecordedTable } from '../store/recorded-table.js';
import { SnapshotReader } from '../store/snapshot-reader.js';
import { TradeReader } from '../store/trade-reader.js';
import { VolumeReader } from '../store/volume-reader.js';
import { DataAdminController } from './admin/admin.controller.js';
import { IngestDesk } from './admin/ingest-desk.js';
import { candleParts, type CandleReaders } from './candles/candle-parts.js';
import { CandlesController, CompanionCandlesController } from './candles/candles.controller.js';
import { CompanionController } from './companion/companion.controller.js';
import { CompanionListsController } from './companion/companion-lists.controller.js';
import type { SealedCursors } from './cursors.js';
import type { DataReadiness } from './data-readiness.js';
import type { DataSettings } from './data-settings.js';
import { companionDocument, dataDocument } from './documents/data-document.js';
import { DataDocumentsController } from './documents/documents.controller.js';
import { KnownFlags } from './flags/known-flags.js';
import { KeyAccess } from './flags/key-access.js';
import { DataHealthController } from './health.controller.js';
import { MarketsController } from './markets/markets.controller.js';
import { ProvidersController } from './providers/providers.controller.js';
import { TradeDesk } from './trades/trade-desk.js';
import { TradesController } from './trades/trades.controller.js';
import type { Upstreams } from './upstream/upstream.js';
import { VenueTradesController } from './venue-trades/venue-trades.controller.js';
import { VenueTrades } from './venue-trades/venue-trades.js';

/** What the controllers need. */
export interface DataParts {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly settings: Omit<DataSettings, 'ports'>;
  readonly cursors: SealedCursors;
  readonly readiness: DataReadiness;
  readonly upstreams: Upstreams;
  readonly companionUrl: () => string;
  readonly onFault: OnFault;
  /** Called for alarms that operators should see at once. */
  readonly onAlarm: (provider: Provider, detail: string) => void;
}

export interface DataControllers {
  readonly data: readonly object[];
  /** Controllers of the companion listener (`/v1`). */
  readonly companion: readonly object[];
}

/** Makes all controllers, once per process. */
export function dataControllers(parts: DataParts): DataControllers {
  const { pool, clock, cursors, settings, onFault } = parts;
  const readers = readersOf(pool, settings);
  const { markets, snapshots } = readers;
  const flags = new KnownFlags(new FlagTable(pool), clock);
  const access = new KeyAccess(flags);
  const candles = candleParts({ ...candleReaders(parts), ...readers, clock, onFault });
  const health = new DataHealthController(parts.readiness);
  const live = { live: parts.upstreams, companionUrl: parts.companionUrl };
  const trades = new VenueTrades({ upstreams: parts.upstreams, markets, clock });
  return {
    data: [
      health,
      new ProvidersController({ flags, access }),
      adminController(pool, flags, clock),
      new MarketsController({ ...readers, ...live, cursors, flags, clock, onFault }),
      new CandlesController(candles),
      new TradesController({ desk: new TradeDesk(readers), cursors, access, clock }),
      new VenueTradesController({ access, trades }),
      new DataDocumentsController(dataDocument()),
    ],
    companion: [
      health,
      new CompanionCandlesController(candles),
      new CompanionController({ pool, clock }),
      new CompanionListsController({ pool, snapshots, cursors, clock, onFault }),
      new DataDocumentsController(companionDocument()),
    ],
  };
}

interface Readers {
  readonly markets: MarketReader;
  readonly prices: PriceReader;
  readonly volumes: VolumeReader;
  readonly snapshots: SnapshotReader;
  readonly trades: TradeReader;
  readonly coverage: CoverageReader;
}

function readersOf(pool: Pool, settings: DataParts['settings']): Readers {
  const maxAge = settings.snapshotMaxAgeSeconds * MICROS_PER_SECOND;
  return {
    markets: new MarketReader(pool),
    prices: new PriceReader(pool),
    volumes: new VolumeReader(pool),
    snapshots: new SnapshotReader(pool, maxAge),
    trades: new TradeReader(pool),
    coverage: new CoverageReader(pool, settings.retentionDays),
  };
}

function candleReaders({ pool, onAlarm }: DataParts): Pick<CandleReaders, 'candles' | 'alarms' | 'onApart'> {
  return { candles: new CandleReader(pool), alarms: new AlarmTable(pool), onApart: onAlarm };
}

function adminController(pool: Pool, flags: KnownFlags, clock: Clock): DataAdminController {
  const ingest = new IngestDesk({
    ...{
      freshness: new FreshnessTable(pool),
      alarms: new AlarmTable(pool),
      files: new RecordedTable(pool),
    },
    ...{ pauses: new PauseTable(pool), backfills: new BackfillTable(pool), clock },
  });
  return new DataAdminController({ table: new FlagTable(pool), flags, ingest, clock });
}
