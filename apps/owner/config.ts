import { areDistinct } from '#libs/auction/shard/ids.js';
import { kafkaSettings, kafkaSettingsAgree } from '#libs/journal/kafka/kafka-settings.js';
import { ownerUrlsAreOnePerShard } from '#libs/auction/protocol/routing.js';
import { serviceTokenIsSet, serviceTokenSettings } from '#libs/link/service-tokens.js';
import { defineConfig } from '#libs/platform/settings/config.js';
import { databaseSettings } from '#libs/platform/database/database-settings.js';
import { limitsHoldUnlessLoopback, processSettings } from '#libs/platform/settings/process-settings.js';
import { hexKeys, httpUrl, integer, listOf, nonEmpty } from '#libs/platform/settings/setting-types.js';
import { tracingSettings } from '#libs/platform/tracing/tracing.js';

export const ownerConfig = defineConfig({
  ...processSettings,
  ...databaseSettings,
  ...serviceTokenSettings,
  ...tracingSettings,
  ...kafkaSettings,
  SHARD: { schema: integer(0, 2), describe: 'Number of the shard that this process owns' },
  OWNER_URLS: {
    schema: listOf(httpUrl()),
    describe: 'Internal addresses of the three owners by shard, separated by commas',
  },
  ID_KEY: {
    schema: hexKeys(),
    describe:
      'Keys of ids, aliases and journal seals, separated by commas: the first makes new ones, all are accepted',
    secret: true,
  },
  ACTIVE_AUCTION_LIMIT: {
    schema: integer(1, 10_000_000),
    describe: 'Largest number of live auctions of one shard',
    default: '20000',
  },
  COMMANDS_PER_MAKER_LIMIT: {
    schema: integer(1, 10_000_000),
    describe: 'Largest number of quote commands that one auction records for one maker',
    default: '10000',
  },
  LIMITS_FACTOR: {
    schema: integer(1, 1_000_000),
    describe: 'Multiplies every token bucket and ACTIVE_AUCTION_LIMIT; only for measuring on loopback',
    default: '1',
  },
  SNAPSHOT_EVERY_EVENTS: {
    schema: integer(100, 100_000_000),
    describe: 'Events between two snapshots of the shard; snapshots shorten recovery',
    default: '50000',
  },
  CLOCK_MAX_OFFSET_MS: {
    schema: integer(1, 60_000),
    describe: "Milliseconds by which this machine's clock may differ from the database's",
    default: '1000',
  },
  PROJECTION_MAX_LAG_EVENTS: {
    schema: integer(1, 100_000_000),
    describe: 'Creates pause when the projections lag by this many events',
    default: '50000',
  },
  PROJECTION_MAX_LAG_MS: {
    schema: integer(100, 3_600_000),
    describe: 'Creates pause when the projections lag by this many milliseconds',
    default: '10000',
  },
  JOURNAL_MIN_FREE_MB: {
    schema: integer(0, 1_000_000_000),
    describe: 'Creates pause when the disk of JOURNAL_PATH has fewer free megabytes than this',
    default: '256',
  },
  JOURNAL_PATH: {
    schema: nonEmpty().optional(),
    describe: 'Path of the journal, if it is on a disk of this machine',
  },
  JOURNAL_MAX_MB: {
    schema: integer(1, 1_000_000_000),
    describe: 'Creates pause when the journal table has more megabytes than this',
    default: '1000000',
  },
});

export const ownerRules = [
  limitsHoldUnlessLoopback('INTERNAL_HOST'),
  kafkaSettingsAgree,
  serviceTokenIsSet,
  ownerUrlsAreOnePerShard,
  idKeysDiffer,
];

function idKeysDiffer({ ID_KEY }: { readonly ID_KEY: readonly string[] }): string | undefined {
  if (areDistinct(ID_KEY.map((hex) => Buffer.from(hex, 'hex')))) return undefined;
  return 'ID_KEY is wrong: two of its keys have the same key id; make another one';
}
