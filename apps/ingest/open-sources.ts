import path from 'node:path';
import type { Pool } from 'pg';
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
    feeds: [...(recorded?.feeds ?? [])],
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
