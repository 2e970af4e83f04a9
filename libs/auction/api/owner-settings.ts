import { defineConfig } from '#libs/platform/settings/config.js';
import { httpUrl, integer, listOf } from '#libs/platform/settings/setting-types.js';

/** Of a process that asks owners for its callers. */
export const ownerSettings = defineConfig({
  OWNER_URLS: {
    schema: listOf(httpUrl()),
    describe: 'Internal addresses of the three owners by shard, separated by commas',
  },
  OWNER_TIMEOUT_MS: {
    schema: integer(100, 60_000),
    describe: 'How long a gateway waits for an owner before it answers 503',
    default: '10000',
  },
});
