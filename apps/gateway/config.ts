import { sessionSettings } from '#libs/identity/sessions/session-lifetimes.js';
import { defineConfig } from '#libs/platform/config.js';
import { databaseSettings } from '#libs/platform/database-settings.js';
import { processSettings } from '#libs/platform/process-settings.js';
import { httpUrl, integer, listOf, nonEmpty, port, secret } from '#libs/platform/setting-types.js';

export const gatewayConfig = defineConfig({
  ...processSettings,
  ...databaseSettings,
  ...sessionSettings,
  PORT: { schema: port(), describe: 'Port of the public listener' },
  LISTEN_HOST: { schema: nonEmpty(), describe: 'Address of the public listener', default: '127.0.0.1' },
  OWNER_URLS: {
    schema: listOf(httpUrl()),
    describe: 'Internal addresses of the three owners by shard, separated by commas',
  },
  SERVICE_TOKEN: {
    schema: secret(32),
    describe: 'What gateways, owners and executors show each other',
    secret: true,
  },
  LIMITS_FACTOR: {
    schema: integer(1, 1_000_000),
    describe: 'Multiplies the token buckets that callers are shown; for measuring on loopback only',
    default: '1',
  },
  OWNER_TIMEOUT_MS: {
    schema: integer(100, 60_000),
    describe: 'How long a gateway waits for an owner before it answers 503',
    default: '10000',
  },
});
