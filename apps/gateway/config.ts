import { auditSettings } from '#libs/auction/api/audit/attestation-key.js';
import { ownerSettings } from '#libs/auction/api/open-owners.js';
import { streamSettings } from '#libs/auction/api/stream/stream-settings.js';
import { executionIsSet, executionSettings } from '#libs/execution/api/execution-settings.js';
import { sessionSettings } from '#libs/identity/sessions/session-lifetimes.js';
import { kafkaSettings, kafkaSettingsAgree } from '#libs/journal/kafka/kafka-settings.js';
import { ownerUrlsAreOnePerShard } from '#libs/auction/protocol/routing.js';
import { serviceTokenIsSet, serviceTokenSettings } from '#libs/link/service-tokens.js';
import { defineConfig } from '#libs/platform/settings/config.js';
import { databaseSettings } from '#libs/platform/database/database-settings.js';
import { limitsHoldUnlessLoopback } from '#libs/platform/settings/process-settings.js';
import { processSettings } from '#libs/platform/settings/process-settings.js';
import { integer, nonEmpty, port } from '#libs/platform/settings/setting-types.js';
import { tracingSettings } from '#libs/platform/tracing/tracing.js';
import { SERVICE_NAMES } from '#libs/platform/processes/catalogue.js';
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
    describe: `Services that this process carries, comma separated; this release has ${SERVICE_NAMES.join(', ')}`,
    default: 'auction',
  },
  PORT: { schema: port(), describe: 'Port of the public listener' },
  LISTEN_HOST: { schema: nonEmpty(), describe: 'Address of the public listener', default: '127.0.0.1' },
  ...ownerSettings,
  LIMITS_FACTOR: {
    schema: integer(1, 1_000_000),
    describe: 'Multiplies the token buckets that callers are shown; for measuring on loopback only',
    default: '1',
  },
  ...auditSettings,
  ...streamSettings,
  ...executionSettings,
});

export const gatewayRules = [
  limitsHoldUnlessLoopback('LISTEN_HOST', 'INTERNAL_HOST'),
  kafkaSettingsAgree,
  serviceTokenIsSet,
  ownerUrlsAreOnePerShard,
  executionIsSet,
];
