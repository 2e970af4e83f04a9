import { defineConfig } from '#libs/platform/settings/config.js';
import { httpUrl, nonEmpty } from '#libs/platform/settings/setting-types.js';

export const demoConfig = defineConfig({
  DATA_DIR: {
    schema: nonEmpty(),
    describe: 'Folder of the running cluster, whose cluster.json tells where it is',
    default: '.data',
  },
  SOTTO_URL: {
    schema: httpUrl().optional(),
    describe: 'A gateway to play against instead; it must know the demo accounts',
  },
  SOTTO_PASSWORD: {
    schema: nonEmpty(),
    describe: 'Password of the demo accounts behind SOTTO_URL',
    default: 'sotto-demo',
    secret: true,
  },
});
