import { kafkaSettings, kafkaSettingsAgree } from '#libs/journal/kafka/kafka-settings.js';
import { serviceTokenIsSet, serviceTokenSettings } from '#libs/link/service-tokens.js';
import { databaseSettings } from '#libs/platform/database/database-settings.js';
import { defineConfig } from '#libs/platform/settings/config.js';
import { limitsHoldUnlessLoopback, processSettings } from '#libs/platform/settings/process-settings.js';
import { hexKeys, integer } from '#libs/platform/settings/setting-types.js';
import { tracingSettings } from '#libs/platform/tracing/tracing.js';

export const cellConfig = defineConfig({
  ...processSettings,
  ...databaseSettings,
  ...serviceTokenSettings,
  ...tracingSettings,
  ...kafkaSettings,
  CELL: { schema: integer(0, 15), describe: 'Number of this cell, from 0' },
  CELLS: {
    schema: integer(1, 16),
    describe: 'Number of cells; fixed by the first start on a database',
    default: '2',
  },
  ID_KEY: {
    schema: hexKeys(),
    describe: 'Keys of journal seals, separated by commas: the first makes new ones, all are accepted',
    secret: true,
  },
  LIMITS_FACTOR: {
    schema: integer(1, 1_000_000),
    describe: 'Multiplies every limit of callers; only for measuring on loopback',
    default: '1',
  },
  STALLED_AFTER_MS: {
    schema: integer(1_000, 3_600_000),
    describe:
      'Milliseconds that a venue may leave queries about an order unanswered before the order counts as stalled',
    default: '60000',
  },
  SNAPSHOT_EVERY_EVENTS: {
    schema: integer(100, 100_000_000),
    describe: 'Events between two snapshots of the cell; snapshots shorten recovery',
    default: '50000',
  },
});

export const cellRules = [
  limitsHoldUnlessLoopback('INTERNAL_HOST'),
  kafkaSettingsAgree,
  serviceTokenIsSet,
  cellIsOneOfCells,
];

function cellIsOneOfCells({
  CELL: cell,
  CELLS: cells,
}: {
  readonly CELL: number;
  readonly CELLS: number;
}): string | undefined {
  return cell < cells ? undefined : `CELL is wrong: there are ${cells} cells, counted from 0`;
}
