import { defineConfig, type Config } from '#libs/platform/settings/config.js';
import { hexKey, httpUrl, integer, listOf, nonEmpty, port } from '#libs/platform/settings/setting-types.js';
import { parseDecimal } from '#libs/base/decimals.js';
import { cellUrlsAreOnePerCell } from '../protocol/routing.js';
import { venueSettings, venueUrlsAreSet } from '../venues/venue-settings.js';

const PLACES = 6;

/** Settings of a gateway. Those without a default are required only if the gateway serves order execution. */
export const executionSettings = defineConfig({
  ...venueSettings,
  EXECUTION_PORT: {
    schema: port(),
    describe: 'Port of the public listener of order execution',
    default: '8090',
  },
  CELLS: {
    schema: integer(1, 16),
    describe: 'Number of cells; fixed by the first start on a database',
    default: '2',
  },
  CELL_URLS: {
    schema: listOf(httpUrl()).optional(),
    describe: 'Internal addresses of the cells, in order, separated by commas',
  },
  EXECUTOR_URL: { schema: httpUrl().optional(), describe: 'Internal address of the executor' },
  MIN_ORDER_QUANTITY: {
    schema: nonEmpty().refine((text) => minimumOf(text) !== undefined, 'it must be a decimal number'),
    describe: 'Smallest quantity that may be bought, in shares',
    default: '1.0',
  },
  API_KEY_SECRET: {
    schema: hexKey().optional(),
    describe: 'Key that verifies API keys; with another key, API keys issued before are no longer valid',
    secret: true,
  },
});

type ExecutionConfig = Config<typeof executionSettings>;

export interface ExecutionSettings {
  readonly cellUrls: readonly string[];
  readonly executorUrl: string;
  readonly keySecret: string;
  readonly minimum: bigint;
}

function minimumOf(text: string): bigint | undefined {
  const units = parseDecimal(text, PLACES)?.units;
  return units !== undefined && units >= 0n ? units : undefined;
}

/** Names the first setting that a gateway with order execution lacks or has wrong. */
export function executionIsSet(
  config: ExecutionConfig & { readonly SERVES: readonly string[] },
): string | undefined {
  if (!config.SERVES.includes('execution')) return undefined;
  const { CELL_URLS, EXECUTOR_URL, API_KEY_SECRET, CELLS } = config;
  const [missing] = Object.entries({ CELL_URLS, EXECUTOR_URL, API_KEY_SECRET }).find(
    ([, value]) => value === undefined,
  ) ?? [undefined];
  if (missing !== undefined) return `${missing} is not set, and SERVES names execution`;
  return cellUrlsAreOnePerCell({ CELL_URLS: CELL_URLS ?? [], CELLS }) ?? venueUrlsAreSet(config);
}

/** Call it only after the check above has found no fault. */
export function executionSettingsOf(config: ExecutionConfig): ExecutionSettings {
  const { CELL_URLS: cellUrls, EXECUTOR_URL: executorUrl, API_KEY_SECRET: keySecret } = config;
  const minimum = minimumOf(config.MIN_ORDER_QUANTITY);
  if (
    cellUrls === undefined ||
    executorUrl === undefined ||
    keySecret === undefined ||
    minimum === undefined
  ) {
    throw new Error('settings of order execution are missing');
  }
  return { cellUrls, executorUrl, keySecret, minimum };
}
