import { defineConfig, type Config } from '#libs/platform/settings/config.js';
import {
  hexKey,
  httpUrl,
  integer,
  listOf,
  nonEmpty,
  port,
  secret,
} from '#libs/platform/settings/setting-types.js';
import { isProxy } from './client-address.js';
import type { UpstreamUrls } from './upstream/upstream.js';
import { limitChangesIn, type LimitChanges } from './limits/limit-rules.js';

const SHORTEST_SECRET = 16;
const LONGEST_RETENTION = 36_500;
/** Also the default: the setting can only shorten it. */
const OLDEST_SNAPSHOT = 120;

const liveReads = (venue: string) =>
  ({
    schema: httpUrl().optional(),
    describe: `Base URL of venue ${venue} for live reads; where orders are executed, that of its own interface`,
  }) as const;

const venueAddresses = defineConfig({
  VENUE_A_URL: liveReads('a'),
  VENUE_B_URL: liveReads('b'),
  VENUE_C_URL: liveReads('c'),
  VENUE_D_URL: liveReads('d'),
  VENUE_E_URL: liveReads('e'),
});

/** Settings of a gateway that serves market data. Settings without a default are required there only. */
export const dataSettings = defineConfig({
  DATA_PORT: { schema: port(), describe: 'Port of the public listener of market data', default: '8100' },
  MD_PORT: {
    schema: port(),
    describe: 'Port of the public listener of the companion of market data, which serves /v1',
    default: '8101',
  },
  STREAM_PORT: {
    schema: port(),
    describe: 'Port of the public listener of the market data stream, which serves nothing yet',
    default: '8102',
  },
  ADMIN_SECRETS: {
    schema: listOf(secret(SHORTEST_SECRET)).optional(),
    describe:
      'Values of X-Admin-Secret for operators of market data, separated by commas; without it there are none',
    secret: true,
  },
  TRUSTED_PROXIES: {
    schema: listOf(
      nonEmpty().refine(isProxy, 'it must be an address, or a network such as 10.0.0.0/8'),
    ).optional(),
    describe:
      'Proxies whose X-Forwarded-For names the caller of market data: addresses and networks, separated by commas',
  },
  DATA_LIMITS: {
    schema: nonEmpty()
      .refine(
        (text) => limitChangesIn(text) !== undefined,
        'it must look like candles=200,/markets/active=200',
      )
      .optional(),
    describe:
      'Changed limits, as <group or path>=<calls a minute>, separated by commas; v1 is for anonymous callers, others get ten times that',
  },
  SNAPSHOT_MAX_AGE_S: {
    schema: integer(1, OLDEST_SNAPSHOT),
    describe: 'Seconds after which a snapshot of open markets is too old to be served',
    default: String(OLDEST_SNAPSHOT),
  },
  UPSTREAM_TIMEOUT_MS: {
    schema: integer(1, 60_000),
    describe: 'Milliseconds that a venue has to answer while a caller waits',
    default: '5000',
  },
  ...venueAddresses,
  RETENTION_DAYS: {
    schema: integer(1, LONGEST_RETENTION).optional(),
    describe: 'Days of trades and candles that ingest keeps; the same value as at ingest',
  },
  API_KEY_SECRET: {
    schema: hexKey().optional(),
    describe: 'Key that verifies API keys; with another key, API keys issued before are no longer valid',
    secret: true,
  },
});

type DataConfig = Config<typeof dataSettings>;

export interface DataSettings {
  readonly ports: { readonly data: number; readonly companion: number; readonly stream: number };
  readonly keySecret: string;
  readonly adminSecrets: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly limitChanges: LimitChanges;
  readonly upstreamUrls: UpstreamUrls;
  readonly upstreamTimeoutMillis: number;
  readonly snapshotMaxAgeSeconds: number;
  readonly retentionDays?: number;
}

/** What is missing for a gateway that serves market data; undefined if nothing is. */
export function dataIsSet(config: DataConfig & { readonly SERVES: readonly string[] }): string | undefined {
  if (!config.SERVES.includes('data')) return undefined;
  if (config.API_KEY_SECRET === undefined) return 'API_KEY_SECRET is not set, and SERVES names data';
  const ports = [config.DATA_PORT, config.MD_PORT, config.STREAM_PORT];
  return new Set(ports).size === ports.length ? undefined : 'DATA_PORT, MD_PORT and STREAM_PORT must differ';
}

/** Call it only after `dataIsSet` returned undefined. */
export function dataSettingsOf(config: DataConfig): DataSettings {
  const { API_KEY_SECRET: keySecret } = config;
  if (keySecret === undefined) throw new Error('settings of market data are missing');
  return {
    ports: { data: config.DATA_PORT, companion: config.MD_PORT, stream: config.STREAM_PORT },
    keySecret,
    adminSecrets: config.ADMIN_SECRETS ?? [],
    trustedProxies: config.TRUSTED_PROXIES ?? [],
    upstreamUrls: upstreamUrlsIn(config),
    upstreamTimeoutMillis: config.UPSTREAM_TIMEOUT_MS,
    snapshotMaxAgeSeconds: config.SNAPSHOT_MAX_AGE_S,
    ...(config.RETENTION_DAYS === undefined ? {} : { retentionDays: config.RETENTION_DAYS }),
    limitChanges:
      config.DATA_LIMITS === undefined ? new Map() : (limitChangesIn(config.DATA_LIMITS) ?? new Map()),
  };
}

function upstreamUrlsIn(config: Config<typeof venueAddresses>): UpstreamUrls {
  const named = {
    ...{ venue_a: config.VENUE_A_URL, venue_b: config.VENUE_B_URL, venue_c: config.VENUE_C_URL },
    ...{ venue_d: config.VENUE_D_URL, venue_e: config.VENUE_E_URL },
  };
  return Object.fromEntries(Object.entries(named).filter(([, url]) => url !== undefined));
}
