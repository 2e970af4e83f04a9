import { defineConfig } from '#libs/platform/settings/config.js';
import { processSettings } from '#libs/platform/settings/process-settings.js';
import { integer, listOf, nonEmpty, oneOf } from '#libs/platform/settings/setting-types.js';
import { tracingSettings } from '#libs/platform/tracing/tracing.js';

export const practiceConfig = defineConfig({
  ...processSettings,
  ...tracingSettings,
  PRACTICE_ADMIN_PORT: {
    schema: integer(0, 65_535),
    describe: 'Loopback port through which tests control the practice venues; 0 takes any free port',
    default: '0',
  },
  PRACTICE_B_PORT: {
    schema: integer(0, 65_535),
    describe: 'Loopback port of practice venue b; 0 takes any free port',
    default: '0',
  },
  PRACTICE_E_PORT: {
    schema: integer(0, 65_535),
    describe: 'Loopback port of practice venue e; 0 takes any free port',
    default: '0',
  },
  PRACTICE_DATA_DIR: {
    schema: nonEmpty(),
    describe: 'Folder of the logs of the practice venues; created if missing',
  },
  PRACTICE_VENUES: {
    schema: listOf(oneOf('b', 'e')),
    describe: 'Practice venues to run, separated by commas; others are not registered',
    default: 'b,e',
  },
  PRACTICE_SEED: {
    schema: integer(0, 4_294_967_295),
    describe: 'Seed of the prices of the bots at the practice venues',
    default: '1',
  },
  PRACTICE_STILL: {
    schema: oneOf('0', '1'),
    describe: '1: the bots at the practice venues quote only once',
    default: '0',
  },
});
