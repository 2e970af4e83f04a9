import { defineConfig } from '#libs/platform/settings/config.js';
import { httpUrl, nonEmpty } from '#libs/platform/settings/setting-types.js';

export const demoConfig = defineConfig({
  DATA_DIR: {
    schema: nonEmpty(),
    describe: 'Data folder of the running cluster; its cluster.json has the addresses',
    default: '.data',
  },
  SOTTO_URL: {
    schema: httpUrl().optional(),
    describe: 'A gateway to use instead; it needs the demo accounts',
  },
  SOTTO_PASSWORD: {
    schema: nonEmpty(),
    describe: 'Password of the demo accounts at SOTTO_URL',
    default: 'sotto-demo',
    secret: true,
  },
});
