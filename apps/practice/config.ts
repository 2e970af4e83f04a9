import { defineConfig } from '#libs/platform/settings/config.js';
import { processSettings } from '#libs/platform/settings/process-settings.js';
import { integer, listOf, nonEmpty, oneOf } from '#libs/platform/settings/setting-types.js';
import { tracingSettings } from '#libs/platform/tracing/tracing.js';

export const practiceConfig = defineConfig({
  ...processSettings,
  ...tracingSettings,
  PRACTICE_ADMIN_PORT: {
    schema: integer(0, 65_535),
    describe: 'Port on loopback by which tests arrange the practice venues; 0 takes any free one',
    default: '0',
  },
  PRACTICE_B_PORT: {
    schema: integer(0, 65_535),
    describe: 'Port on loopback of practice venue b; 0 takes any free one',
    default: '0',
  },
  PRACTICE_E_PORT: {
    schema: integer(0, 65_535),
    describe: 'Port on loopback of practice venue e; 0 takes any free one',
    default: '0',
  },
  PRACTICE_DATA_DIR: {
    schema: nonEmpty(),
    describe: 'Folder of the logs of the practice venues; it is made if it is missing',
  },
  PRACTICE_VENUES: {
    schema: listOf(oneOf('b', 'e')),
    describe: 'Practice venues that there are, separated by commas; the others are not registered',
    default: 'b,e',
  },
  PRACTICE_SEED: {
    schema: integer(0, 4_294_967_295),
    describe: 'From which the prices of the bots at the practice venues follow',
    default: '1',
  },
  PRACTICE_STILL: {
    schema: oneOf('0', '1'),
    describe: '1: the bots at the practice venues quote once and never again',
    default: '0',
  },
});
