import { cellUrlsAreOnePerCell } from '#libs/execution/protocol/routing.js';
import { venueSettings, venueUrlsAreSet } from '#libs/execution/venues/venue-settings.js';
import { serviceTokenIsSet, serviceTokenSettings } from '#libs/link/service-tokens.js';
import { defineConfig } from '#libs/platform/settings/config.js';
import { processSettings } from '#libs/platform/settings/process-settings.js';
import { httpUrl, integer, listOf, nonEmpty } from '#libs/platform/settings/setting-types.js';
import { tracingSettings } from '#libs/platform/tracing/tracing.js';

export const executorConfig = defineConfig({
  ...processSettings,
  ...serviceTokenSettings,
  ...tracingSettings,
  ...venueSettings,
  CELLS: {
    schema: integer(1, 16),
    describe: 'Number of cells; fixed by the first start on a database',
    default: '2',
  },
  CELL_URLS: {
    schema: listOf(httpUrl()),
    describe: 'Internal addresses of the cells, in order, separated by commas',
  },
  SIGNER_SOCKET: {
    schema: nonEmpty(),
    describe: 'Path of the Unix socket of the signer',
  },
  PRACTICE_CREDIT: {
    schema: nonEmpty().optional(),
    describe: 'Initial dollars of accounts at practice venues; without it they start empty',
  },
  EXECUTOR_CONCURRENCY: {
    schema: integer(1, 1_024),
    describe: 'Orders of each cell that may be at a venue at the same time',
    default: '64',
  },
});

export const executorRules = [serviceTokenIsSet, cellUrlsAreOnePerCell, venueUrlsAreSet];
