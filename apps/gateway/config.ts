import { auctionIsSet, auctionSettings } from '#libs/auction/api/auction-settings.js';
import { streamSettings } from '#libs/auction/api/stream/stream-settings.js';
import { dataIsSet, dataSettings } from '#libs/data/api/data-settings.js';
import { executionIsSet, executionSettings } from '#libs/execution/api/execution-settings.js';
import { sessionSettings } from '#libs/identity/sessions/session-lifetimes.js';
import { kafkaSettings, kafkaSettingsAgree } from '#libs/journal/kafka/kafka-settings.js';
import { serviceTokenIsSet, serviceTokenSettings } from '#libs/link/service-tokens.js';
import { defineConfig, type ConfigDefinition } from '#libs/platform/settings/config.js';
import { databaseSettings } from '#libs/platform/database/database-settings.js';
import { limitsHoldUnlessLoopback } from '#libs/platform/settings/process-settings.js';
import { processSettings } from '#libs/platform/settings/process-settings.js';
import { integer, nonEmpty } from '#libs/platform/settings/setting-types.js';
import { tracingSettings } from '#libs/platform/tracing/tracing.js';
import { SERVICE_NAMES, type ServiceName } from '#libs/platform/processes/catalogue.js';
import { servedServices } from './served.js';

export const gatewayConfig = defineConfig({
  ...processSettings,
  ...databaseSettings,
  ...serviceTokenSettings,
  ...tracingSettings,
  ...kafkaSettings,
  ...sessionSettings,
  SERVES: {
    schema: servedServices,
    describe: `Services that this process serves, separated by commas: ${SERVICE_NAMES.join(', ')}`,
    default: 'auction',
  },
  LISTEN_HOST: { schema: nonEmpty(), describe: 'Address of the public listener', default: '127.0.0.1' },
  LIMITS_FACTOR: {
    schema: integer(1, 1_000_000),
    describe: 'Multiplies the token buckets that callers see; only for measuring on loopback',
    default: '1',
  },
  ...streamSettings,
  ...auctionSettings,
  ...executionSettings,
  ...dataSettings,
});

export const gatewayRules = [
  limitsHoldUnlessLoopback('LISTEN_HOST', 'INTERNAL_HOST'),
  kafkaSettingsAgree,
  serviceTokenIsSet,
  auctionIsSet,
  executionIsSet,
  dataIsSet,
];

const OF_ONE_SERVICE: Readonly<Record<ServiceName, ConfigDefinition>> = {
  auction: auctionSettings,
  execution: executionSettings,
  data: dataSettings,
};

/** The settings that a gateway with this SERVES reads: none of services that it does not serve. */
export function gatewayReads({
  SERVES: given = gatewayConfig.SERVES.default,
}: Readonly<Record<string, string>>): ConfigDefinition {
  const served = servedServices.parse(given);
  const settingsOf = (names: readonly ServiceName[]): string[] =>
    names.flatMap((name) => Object.keys(OF_ONE_SERVICE[name]));
  const read = new Set(settingsOf(served));
  const unread = new Set(settingsOf(SERVICE_NAMES).filter((name) => !read.has(name)));
  return Object.fromEntries(Object.entries(gatewayConfig).filter(([name]) => !unread.has(name)));
}
