import { EVIDENCE_FEED_DEFAULTS } from '#libs/ledger/evidence-feed.js';
import { ownerUrlsAreOnePerShard } from '#libs/auction/protocol/routing.js';
import { serviceTokenIsSet, serviceTokenSettings } from '#libs/link/service-tokens.js';
import { defineConfig } from '#libs/platform/settings/config.js';
import { databaseSettings } from '#libs/platform/database/database-settings.js';
import { processSettings } from '#libs/platform/settings/process-settings.js';
import { httpUrl, integer, listOf } from '#libs/platform/settings/setting-types.js';
import { tracingSettings } from '#libs/platform/tracing/tracing.js';

export const settlerConfig = defineConfig({
  ...processSettings,
  ...databaseSettings,
  ...serviceTokenSettings,
  ...tracingSettings,
  OWNER_URLS: {
    schema: listOf(httpUrl()),
    describe: 'Internal addresses of the three owners by shard, separated by commas',
  },
  RISK_EVIDENCE_TTL_MS: {
    schema: integer(1_000, 86_400_000),
    describe:
      'Milliseconds for which risk evidence is valid after this process confirms it; confirmed three times as often',
    default: String(EVIDENCE_FEED_DEFAULTS.ttlMillis),
  },
  SETTLEMENT_CONCURRENCY: {
    schema: integer(1, 256),
    describe: 'Awards of each owner that are settled at the same time',
    default: '4',
  },
});

export const settlerRules = [serviceTokenIsSet, ownerUrlsAreOnePerShard];
