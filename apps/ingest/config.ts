import { databaseSettings } from '#libs/platform/database/database-settings.js';
import { type Config, defineConfig } from '#libs/platform/settings/config.js';
import { processSettings } from '#libs/platform/settings/process-settings.js';
import { hexKeys, httpUrl, integer, listOf, nonEmpty, oneOf } from '#libs/platform/settings/setting-types.js';

const SOURCES = ['seed', 'practice', 'recorded'] as const;
/** Two for each journal (projector and identities), and some for the requests of operators. */
const CONNECTIONS = '16';

const feedUrl = (venue: string) =>
  ({
    schema: httpUrl().optional(),
    describe: `Base URL of the public interface of venue ${venue} for the source \`practice\`; without it the venue is not followed`,
  }) as const;

export const ingestConfig = defineConfig({
  ...processSettings,
  ...databaseSettings,
  DATABASE_POOL: { ...databaseSettings.DATABASE_POOL, default: CONNECTIONS },
  ID_KEY: {
    schema: hexKeys(),
    describe: 'Keys of journal seals, separated by commas: the first makes new ones, all are accepted',
    secret: true,
  },
  DATA_SOURCES: {
    schema: listOf(oneOf(...SOURCES)).refine(
      (named) => new Set(named).size === named.length,
      'it must name each source once',
    ),
    describe: `Sources of market data, separated by commas: ${SOURCES.join(', ')}`,
    default: 'seed,practice',
  },
  DATA_SEED: {
    schema: nonEmpty(),
    describe: 'Seed of the world that the source `seed` makes; only the first start uses it',
    default: 'sotto',
  },
  RECORDED_DIR: {
    schema: nonEmpty().optional(),
    describe: 'Folder of the source `recorded`; with `npm start` the default is `recorded` in DATA_DIR',
  },
  VENUE_A_FEED_URL: feedUrl('a'),
  VENUE_B_FEED_URL: feedUrl('b'),
  VENUE_C_FEED_URL: feedUrl('c'),
  VENUE_D_FEED_URL: feedUrl('d'),
  VENUE_E_FEED_URL: feedUrl('e'),
  VENUE_B_ACCOUNTS_URL: {
    schema: httpUrl().optional(),
    describe:
      'Where a practice venue b opens accounts; without it the socket stays closed and lists are read more often',
  },
  LIVE_READS_PORT: {
    schema: integer(0, 65_535),
    describe: 'Loopback port for live reads of the data fed here; 0 takes any free port',
    default: '0',
  },
  RETENTION_DAYS: {
    schema: integer(1, 36_500).optional(),
    describe:
      'Days of trades, candles and ledger to keep, rounded up to whole months; without it all are kept',
  },
});

export type IngestConfig = Config<typeof ingestConfig>;

export const ingestRules = [recordedFolderIsSet];

function recordedFolderIsSet({
  DATA_SOURCES: sources,
  RECORDED_DIR: folder,
}: IngestConfig): string | undefined {
  if (folder !== undefined || !sources.includes('recorded')) return undefined;
  return 'RECORDED_DIR is not set, and DATA_SOURCES names recorded';
}
