import { sessionSettings } from '#libs/identity/sessions/session-lifetimes.js';
import { kafkaSettings, kafkaSettingsAgree } from '#libs/journal/kafka/kafka-settings.js';
import { ownerUrlsAreOnePerShard } from '#libs/link/owner-urls.js';
import { serviceTokenIsSet, serviceTokenSettings } from '#libs/link/service-token-settings.js';
import { defineConfig } from '#libs/platform/settings/config.js';
import { databaseSettings } from '#libs/platform/database/database-settings.js';
import { limitsHoldUnlessLoopback } from '#libs/platform/settings/limits-factor.js';
import { processSettings } from '#libs/platform/settings/process-settings.js';
import {
  hexKey,
  hexKeys,
  httpUrl,
  integer,
  listOf,
  nonEmpty,
  port,
} from '#libs/platform/settings/setting-types.js';
import { tracingSettings } from '#libs/platform/tracing/tracing-settings.js';

export const gatewayConfig = defineConfig({
  ...processSettings,
  ...databaseSettings,
  ...serviceTokenSettings,
  ...tracingSettings,
  ...kafkaSettings,
  ...sessionSettings,
  PORT: { schema: port(), describe: 'Port of the public listener' },
  LISTEN_HOST: { schema: nonEmpty(), describe: 'Address of the public listener', default: '127.0.0.1' },
  OWNER_URLS: {
    schema: listOf(httpUrl()),
    describe: 'Internal addresses of the three owners by shard, separated by commas',
  },
  LIMITS_FACTOR: {
    schema: integer(1, 1_000_000),
    describe: 'Multiplies the token buckets that callers are shown; for measuring on loopback only',
    default: '1',
  },
  OWNER_TIMEOUT_MS: {
    schema: integer(100, 60_000),
    describe: 'How long a gateway waits for an owner before it answers 503',
    default: '10000',
  },
  AUDIT_KEY: {
    schema: hexKey(),
    describe: 'Key from which auditors get pseudonyms for accounts; the same at all gateways, for good',
    secret: true,
  },
  AUDIT_SIGNING_KEY: {
    schema: hexKeys(),
    describe:
      'Private Ed25519 keys (their 32-byte seeds) of replay bundles: the first signs, all are published',
    secret: true,
  },
  STREAM_KEYS: {
    schema: listOf(hexKey()),
    describe: 'Keys of resume tokens, separated by commas: the first one seals, all of them open',
    secret: true,
  },
  STREAM_HEARTBEAT_MS: {
    schema: integer(100, 60_000),
    describe: 'Time between two heartbeats of a stream; a client that is silent for three of them is closed',
    default: '10000',
  },
  STREAM_HISTORY_EVENTS: {
    schema: integer(100, 10_000_000),
    describe:
      'Events of each shard that a gateway remembers for streams that are resumed; older ones are read',
    default: '20000',
  },
  STREAM_CONNECTIONS_PER_ACCOUNT: {
    schema: integer(1, 100_000),
    describe: 'Streams that one account may have open at one gateway',
    default: '512',
  },
});

export const gatewayRules = [
  limitsHoldUnlessLoopback('LISTEN_HOST', 'INTERNAL_HOST'),
  kafkaSettingsAgree,
  serviceTokenIsSet,
  ownerUrlsAreOnePerShard,
];
