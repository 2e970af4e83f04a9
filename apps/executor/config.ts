import { defineConfig } from '#libs/platform/config.js';
import { databaseSettings } from '#libs/platform/database-settings.js';
import { processSettings } from '#libs/platform/process-settings.js';
import { httpUrl, integer, listOf, secret } from '#libs/platform/setting-types.js';

export const executorConfig = defineConfig({
  ...processSettings,
  ...databaseSettings,
  OWNER_URLS: {
    schema: listOf(httpUrl()),
    describe: 'Internal addresses of the three owners by shard, separated by commas',
  },
  SERVICE_TOKEN: {
    schema: secret(32),
    describe: 'What gateways, owners and executors show each other',
    secret: true,
  },
  EXECUTION_CONCURRENCY: {
    schema: integer(1, 256),
    describe: 'Awards that are settled at the same time',
    default: '4',
  },
});
