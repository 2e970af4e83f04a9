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
    describe: 'Path of the Unix socket of the signer; only its own user may open it',
  },
  SIGNER_KEY: {
    schema: hexKey(),
    describe:
      'Encrypts the keys of users in the database, 64 hexadecimal digits; if it is lost, they are lost',
    secret: true,
  },
  VENUE_E_NETWORK: {
    schema: oneOf('main', 'test'),
    describe: 'Network of venue e for which signatures are valid',
    default: 'main',
  },
});

export const signerRules = [serviceTokenIsSet];
