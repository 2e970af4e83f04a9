import { serviceTokenIsSet, serviceTokenSettings } from '#libs/link/service-tokens.js';
import { databaseSettings } from '#libs/platform/database/database-settings.js';
import { defineConfig } from '#libs/platform/settings/config.js';
import { processSettings } from '#libs/platform/settings/process-settings.js';
import { hexKey, nonEmpty, oneOf } from '#libs/platform/settings/setting-types.js';
import { tracingSettings } from '#libs/platform/tracing/tracing.js';

export const signerConfig = defineConfig({
  ...processSettings,
  ...databaseSettings,
  ...serviceTokenSettings,
  ...tracingSettings,
  SIGNER_SOCKET: {
    schema: nonEmpty(),
    describe: 'Path of the Unix socket at which the signer answers; only its own user may open it',
  },
  SIGNER_KEY: {
    schema: hexKey(),
    describe: 'Seals the keys of users in the database, 64 hexadecimal digits; without it they are lost',
    secret: true,
  },
  VENUE_E_NETWORK: {
    schema: oneOf('main', 'test'),
    describe: 'Which network of venue e signatures are good for',
    default: 'main',
  },
});

export const signerRules = [serviceTokenIsSet];
