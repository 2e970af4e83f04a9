import path from 'node:path';
import type { Pool } from 'pg';
import { practiceFeeds } from '#libs/data/ingest/practice/practice-feeds.js';
import { RecordedSource } from '#libs/data/ingest/recorded/recorded-source.js';
import type { SourceFeed } from '#libs/data/ingest/source.js';
import { RecordedTable } from '#libs/data/store/recorded-table.js';
import type { OnFault } from '#libs/platform/process/log.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { IngestConfig } from './config.js';

export interface SourcePorts {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly onFault: OnFault;
}

/** The feeds that DATA_SOURCES names. `stop` comes after those who take them have stopped. */
export interface OpenSources {
  readonly feeds: readonly SourceFeed[];
  stop(): Promise<void>;
}

export async function openSources(config: IngestConfig, ports: SourcePorts): Promise<OpenSources> {
  const recorded = recordedSource(config, ports);
  await recorded?.start();
  return {
    feeds: [...practiceSource(config, ports), ...(recorded?.feeds ?? [])],
    stop: async () => {
      await recorded?.stop();
    },
  };
}

function recordedSource(
  { DATA_SOURCES: sources, RECORDED_DIR: folder }: IngestConfig,
  { pool, clock, onFault }: SourcePorts,
): RecordedSource | undefined {
  if (folder === undefined || !sources.includes('recorded')) return undefined;
  return new RecordedSource(path.resolve(folder), { table: new RecordedTable(pool), clock, onFault });
}

/** Venues without an address are not followed. */
function practiceSource(config: IngestConfig, { clock }: SourcePorts): SourceFeed[] {
  if (!config.DATA_SOURCES.includes('practice')) return [];
  const { VENUE_B_FEED_URL: b, VENUE_B_ACCOUNTS_URL: accounts, VENUE_E_FEED_URL: e } = config;
  return practiceFeeds({
    clock,
    ...(b === undefined ? {} : { venueBUrl: b }),
    ...(accounts === undefined ? {} : { venueBAccountsUrl: accounts }),
    ...(e === undefined ? {} : { venueEUrl: e }),
  });
}
