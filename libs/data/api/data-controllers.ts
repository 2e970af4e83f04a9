import type { Pool } from 'pg';
import type { OnFault } from '#libs/platform/process/log.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { MICROS_PER_SECOND } from '../rules/times.js';
import { FlagTable } from '../store/flag-table.js';
import { MarketReader } from '../store/market-reader.js';
import { PriceReader } from '../store/price-reader.js';
import { SnapshotReader } from '../store/snapshot-reader.js';
import { VolumeReader } from '../store/volume-reader.js';
import type { SealedCursors } from './cursors.js';
import type { DataReadiness } from './data-readiness.js';
import type { DataSettings } from './data-settings.js';
import { KnownFlags } from './flags/known-flags.js';
import { DataHealthController } from './health.controller.js';
import { MarketsController } from './markets/markets.controller.js';
import type { Upstreams } from './upstream/upstream.js';

/** What the controllers stand on. */
export interface DataParts {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly settings: Omit<DataSettings, 'ports'>;
  readonly cursors: SealedCursors;
  readonly readiness: DataReadiness;
  readonly upstreams: Upstreams;
  readonly companionUrl: () => string;
  readonly onFault: OnFault;
}

export interface DataControllers {
  readonly data: readonly object[];
  /** Of the listener that serves `/v1`. */
  readonly companion: readonly object[];
}

/** Everything that answers requests, put together once a process. */
export function dataControllers(parts: DataParts): DataControllers {
  const { pool, clock, cursors, readiness, upstreams, companionUrl, onFault, settings } = parts;
  const health = new DataHealthController(readiness);
  const markets = new MarketReader(pool);
  const prices = new PriceReader(pool);
  const volumes = new VolumeReader(pool);
  const snapshots = new SnapshotReader(pool, settings.snapshotMaxAgeSeconds * MICROS_PER_SECOND);
  const flags = new KnownFlags(new FlagTable(pool), clock);
  return {
    data: [
      health,
      new MarketsController({
        ...{
          markets,
          prices,
          volumes,
          snapshots,
          cursors,
          flags,
          live: upstreams,
          companionUrl,
          clock,
          onFault,
        },
      }),
    ],
    companion: [health],
  };
}
