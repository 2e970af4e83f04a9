import path from 'node:path';
import type { Pool } from 'pg';
import { openLiveReads } from '#libs/data/ingest/live-reads/live-reads.js';
import { successor } from '#libs/data/ingest/live-reads/successor.js';
import {
  type PracticeFeedOptions,
  practiceFeeds,
  practiceLiveSources,
} from '#libs/data/ingest/practice/practice-feeds.js';
import { RecordedSource } from '#libs/data/ingest/recorded/recorded-source.js';
import { storedSeedCursor } from '#libs/data/ingest/seed/seed-cursor.js';
import { openSeed, type OpenedSeed } from '#libs/data/ingest/seed/seed.js';
import type { SourceFeed } from '#libs/data/ingest/source.js';
import type { Provider } from '#libs/data/rules/providers.js';
import { RecordedTable } from '#libs/data/store/recorded-table.js';
import type { OnFault } from '#libs/platform/process/log.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { IngestConfig } from './config.js';

export interface SourcePorts {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly onFault: OnFault;
}

/**
 * The feeds that DATA_SOURCES names, and the live reads of their venues. Call `stop` after the consumers of the feeds have stopped.
 */
export interface OpenSources {
  readonly feeds: readonly SourceFeed[];
  stop(): Promise<void>;
}

export async function openSources(config: IngestConfig, ports: SourcePorts): Promise<OpenSources> {
  const practice = practiceOptions(config, ports);
  const seed = seedOf(config, ports);
  const followed = [...practiceLiveSources(practice)].map(
    ([provider, today]) => [provider, successor(today, seed?.endedSources.get(provider))] as const,
  );
  const liveSources = new Map([...(seed?.liveSources ?? []), ...followed]);
  const liveReads =
    liveSources.size === 0
      ? undefined
      : await openLiveReads(
          { sources: liveSources, onFault: (error) => ports.onFault('live reads', error) },
          config.LIVE_READS_PORT,
        );
  const recorded = recordedSource(config, ports);
  await recorded?.start();
  return {
    feeds: [...(seed?.feeds ?? []), ...practiceFeeds(practice), ...(recorded?.feeds ?? [])],
    stop: async () => {
      await recorded?.stop();
      await liveReads?.close();
    },
  };
}

/** For venues that the practice source follows, the seed gives history up to the first start only. */
function seedOf(config: IngestConfig, { pool, clock }: SourcePorts): OpenedSeed | undefined {
  if (!config.DATA_SOURCES.includes('seed')) return undefined;
  return openSeed({
    ...{ seed: config.DATA_SEED, clock, stored: () => storedSeedCursor(pool) },
    endAtStart: new Set(followedVenues(config)),
  });
}

function followedVenues({ DATA_SOURCES, VENUE_B_FEED_URL, VENUE_E_FEED_URL }: IngestConfig): Provider[] {
  if (!DATA_SOURCES.includes('practice')) return [];
  return [
    ...(VENUE_B_FEED_URL === undefined ? [] : ['venue_b' as const]),
    ...(VENUE_E_FEED_URL === undefined ? [] : ['venue_e' as const]),
  ];
}

/** Venues without a URL are not followed. */
function practiceOptions(config: IngestConfig, { clock }: SourcePorts): PracticeFeedOptions {
  const followed = followedVenues(config);
  const { VENUE_B_FEED_URL: b, VENUE_B_ACCOUNTS_URL: accounts, VENUE_E_FEED_URL: e } = config;
  return {
    clock,
    ...(b === undefined || !followed.includes('venue_b') ? {} : { venueBUrl: b }),
    ...(accounts === undefined ? {} : { venueBAccountsUrl: accounts }),
    ...(e === undefined || !followed.includes('venue_e') ? {} : { venueEUrl: e }),
  };
}

function recordedSource(
  { DATA_SOURCES: sources, RECORDED_DIR: folder }: IngestConfig,
  { pool, clock, onFault }: SourcePorts,
): RecordedSource | undefined {
  if (folder === undefined || !sources.includes('recorded')) return undefined;
  return new RecordedSource(path.resolve(folder), { table: new RecordedTable(pool), clock, onFault });
}
