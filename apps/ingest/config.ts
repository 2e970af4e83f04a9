import { databaseSettings } from '#libs/platform/database/database-settings.js';
import { type Config, defineConfig } from '#libs/platform/settings/config.js';
import { processSettings } from '#libs/platform/settings/process-settings.js';
import { hexKeys, httpUrl, integer, listOf, nonEmpty, oneOf } from '#libs/platform/settings/setting-types.js';

const SOURCES = ['seed', 'practice', 'recorded'] as const;
/** For each journal one that projects and one that keeps identities, and what operators ask for. */
const CONNECTIONS = '16';

const feedUrl = (venue: string) =>
  ({
    schema: httpUrl().optional(),
    describe: `Base address of the public interface of venue ${venue} that the source \`practice\` follows; unset, it does not`,
  }) as const;

export const ingestConfig = defineConfig({
  ...processSettings,
  ...databaseSettings,
  DATABASE_POOL: { ...databaseSettings.DATABASE_POOL, default: CONNECTIONS },
  ID_KEY: {
    schema: hexKeys(),
    describe: 'Keys behind seals, separated by commas: the first makes new ones, all know their own',
    secret: true,
  },
  DATA_SOURCES: {
    schema: listOf(oneOf(...SOURCES)).refine(
      (named) => new Set(named).size === named.length,
      'it must name each source once',
    ),
    describe: `What market data comes from, comma separated: ${SOURCES.join(', ')}`,
    default: 'seed,practice',
  },
  DATA_SEED: {
    schema: nonEmpty(),
    describe: 'From which the source `seed` makes its world; it counts at the first start alone',
    default: 'sotto',
  },
  RECORDED_DIR: {
    schema: nonEmpty().optional(),
    describe: 'Folder of the source `recorded`; under `npm start` `recorded` in DATA_DIR unless it is set',
  },
  VENUE_A_FEED_URL: feedUrl('a'),
  VENUE_B_FEED_URL: feedUrl('b'),
  VENUE_C_FEED_URL: feedUrl('c'),
  VENUE_D_FEED_URL: feedUrl('d'),
  VENUE_E_FEED_URL: feedUrl('e'),
  VENUE_B_ACCOUNTS_URL: {
    schema: httpUrl().optional(),
    describe:
      'Where a practice venue b opens accounts; unset, its socket stays closed and its lists are read more often',
  },
  LIVE_READS_PORT: {
    schema: integer(0, 65_535),
    describe: 'Port on loopback of the live reads of what is fed here; 0 takes any free one',
    default: '0',
  },
  RETENTION_DAYS: {
    schema: integer(1, 36_500).optional(),
    describe:
      'Days of trades, candles and ledger that are kept, rounded up to whole months; all unless it is set',
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
