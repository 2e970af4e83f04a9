import { defineConfig, type Config } from '#libs/platform/settings/config.js';
import { nonEmpty, secret } from '#libs/platform/settings/setting-types.js';

export const SHORTEST_TOKEN = 32;

/** Of every process at either end of a link. */
export const serviceTokenSettings = defineConfig({
  SERVICE_TOKEN: {
    schema: secret(SHORTEST_TOKEN).optional(),
    describe: 'What gateways, owners and settlers show each other; SERVICE_TOKEN_FILE goes before it',
    secret: true,
  },
  SERVICE_TOKEN_FILE: {
    schema: nonEmpty().optional(),
    describe:
      'File with the service tokens, one a line: the first is shown, all are accepted; read again when it changes',
  },
});

export function serviceTokenIsSet(config: Config<typeof serviceTokenSettings>): string | undefined {
  if (config.SERVICE_TOKEN !== undefined || config.SERVICE_TOKEN_FILE !== undefined) return undefined;
  return 'SERVICE_TOKEN is not set, nor is SERVICE_TOKEN_FILE: what gateways, owners and settlers show each other';
}
