import { defineConfig, type Config } from '#libs/platform/settings/config.js';
import { hexKey, hexKeys, httpUrl, integer, listOf, port } from '#libs/platform/settings/setting-types.js';
import { ownerUrlsAreOnePerShard } from '../protocol/routing.js';

/** Settings of a gateway. Those without a default are required only where the gateway serves auctions. */
export const auctionSettings = defineConfig({
  PORT: { schema: port().optional(), describe: 'Port of the public listener of auctions' },
  OWNER_URLS: {
    schema: listOf(httpUrl()).optional(),
    describe: 'Internal addresses of the three owners by shard, separated by commas',
  },
  OWNER_TIMEOUT_MS: {
    schema: integer(100, 60_000),
    describe: 'Milliseconds that a gateway waits for an owner before it answers 503',
    default: '10000',
  },
  AUDIT_KEY: {
    schema: hexKey().optional(),
    describe: 'Key of the pseudonyms that auditors see; the same at all gateways, and never changed',
    secret: true,
  },
  AUDIT_SIGNING_KEY: {
    schema: hexKeys().optional(),
    describe:
      'Private Ed25519 keys (32-byte seeds) of replay bundles: the first signs, all public keys are published',
    secret: true,
  },
});

type AuctionConfig = Config<typeof auctionSettings>;

export interface AuctionSettings {
  readonly port: number;
  readonly ownerUrls: readonly string[];
  readonly ownerTimeoutMs: number;
  readonly auditKey: string;
  readonly auditSigningKeys: NonNullable<AuctionConfig['AUDIT_SIGNING_KEY']>;
}

/** The first setting that a gateway with auctions lacks. */
export function auctionIsSet(
  config: AuctionConfig & { readonly SERVES: readonly string[] },
): string | undefined {
  if (!config.SERVES.includes('auction')) return undefined;
  const { PORT, OWNER_URLS, AUDIT_KEY, AUDIT_SIGNING_KEY } = config;
  const [missing] = Object.entries({ PORT, OWNER_URLS, AUDIT_KEY, AUDIT_SIGNING_KEY }).find(
    ([, value]) => value === undefined,
  ) ?? [undefined];
  if (missing !== undefined) return `${missing} is not set, and SERVES names auction`;
  return ownerUrlsAreOnePerShard({ OWNER_URLS: OWNER_URLS ?? [] });
}

/** To be called after `auctionIsSet` found nothing missing. */
export function auctionSettingsOf(config: AuctionConfig): AuctionSettings {
  const { PORT: port, OWNER_URLS: ownerUrls, OWNER_TIMEOUT_MS: ownerTimeoutMs } = config;
  const { AUDIT_KEY: auditKey, AUDIT_SIGNING_KEY: auditSigningKeys } = config;
  if (
    port === undefined ||
    ownerUrls === undefined ||
    auditKey === undefined ||
    auditSigningKeys === undefined
  ) {
    throw new Error('settings of the auctions are missing');
  }
  return { port, ownerUrls, ownerTimeoutMs, auditKey, auditSigningKeys };
}
