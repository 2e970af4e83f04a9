import { z } from 'zod';
import { defineConfig, type Config } from '#libs/platform/settings/config.js';
import { flag, listOf, nonEmpty, oneOf, type FromText } from '#libs/platform/settings/setting-types.js';
import { hostAndPort, type HostAndPort } from './kafkajs/kafka-address.js';

const MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;
const MAPPED_IPV4 = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1']);

function brokerAddress(): FromText<string> {
  return z
    .string({ error: 'it must be set' })
    .refine((text) => hostAndPort(text) !== undefined, 'it must be host:port for each broker');
}

/** A broker that is listed under two names would be counted twice. */
function brokerList(): FromText<readonly string[]> {
  return listOf(brokerAddress()).superRefine((brokers, context) => {
    const known = new Map<string, string>();
    for (const broker of brokers) {
      const address = hostAndPort(broker);
      if (address === undefined) continue;
      const endpoint = endpointOf(address);
      const before = known.get(endpoint);
      if (before !== undefined) {
        const message =
          before === broker ? `it names ${broker} twice` : `${before} and ${broker} are the same broker`;
        context.addIssue({ code: 'custom', message });
        return;
      }
      known.set(endpoint, broker);
    }
  });
}

/** Normalizes an address. All names of this machine's loopback are equal. */
function endpointOf({ host, port }: HostAndPort): string {
  return `${machineOf(host)}:${port}`;
}

function machineOf(host: string): string {
  // A URL normalizes both kinds of address.
  const url = `http://${host.includes(':') ? `[${host}]` : host}`;
  const written = URL.canParse(url) ? new URL(url).hostname : host.toLowerCase();
  const name = asIpv4(written.replace(/^\[|\]$/g, '').replace(/\.$/, ''));
  return LOOPBACK.has(name) ? 'localhost' : name;
}

/** IPv4 addresses may be written as IPv6 ones. */
function asIpv4(name: string): string {
  const [, high, low] = MAPPED_IPV4.exec(name) ?? [];
  if (high === undefined || low === undefined) return name;
  return [high, low]
    .map((half) => Number.parseInt(half, 16))
    .flatMap((half) => [half >> 8, half & 0xff])
    .join('.');
}

function topicPrefix(): FromText<string> {
  return z.string().regex(/^[A-Za-z0-9._-]{1,200}$/, 'it must be made of letters, digits, ".", "_" and "-"');
}

/** For every process that writes or reads journals. */
export const kafkaSettings = defineConfig({
  KAFKA_BROKERS: {
    schema: brokerList().optional(),
    describe:
      'Some Kafka brokers for the journals, as host:port separated by commas; without it PostgreSQL keeps them',
    neverEmpty: true,
  },
  KAFKA_TOPIC_PREFIX: {
    schema: topicPrefix(),
    describe: 'Start of the names of journal topics; family and shard number follow',
    default: 'sotto.journal.',
  },
  KAFKA_SSL: {
    schema: flag(),
    describe: 'Whether to use TLS to the brokers',
    default: 'false',
    neverEmpty: true,
  },
  KAFKA_SSL_CA: {
    schema: nonEmpty().optional(),
    describe:
      "PEM file of the authorities of the brokers' certificates, if those of the system do not suffice",
  },
  KAFKA_SSL_CERT: {
    schema: nonEmpty().optional(),
    describe: 'PEM file of the client certificate, if the brokers require one',
  },
  KAFKA_SSL_KEY: { schema: nonEmpty().optional(), describe: 'PEM file of the key of KAFKA_SSL_CERT' },
  KAFKA_SASL_MECHANISM: {
    schema: oneOf(...MECHANISMS).optional(),
    describe: 'SASL mechanism to log in to the brokers; without it there is no login',
  },
  KAFKA_SASL_USERNAME: { schema: nonEmpty().optional(), describe: 'User of KAFKA_SASL_MECHANISM' },
  KAFKA_SASL_PASSWORD: {
    schema: nonEmpty().optional(),
    describe: 'Password of KAFKA_SASL_USERNAME',
    secret: true,
  },
});

export type KafkaSettings = Config<typeof kafkaSettings>;

/** Rules across the settings of Kafka. */
export function kafkaSettingsAgree(config: KafkaSettings): string | undefined {
  const { KAFKA_SSL: ssl, KAFKA_SSL_CA: ca, KAFKA_SSL_CERT: cert, KAFKA_SSL_KEY: key } = config;
  const {
    KAFKA_SASL_MECHANISM: mechanism,
    KAFKA_SASL_USERNAME: user,
    KAFKA_SASL_PASSWORD: password,
  } = config;
  if (config.KAFKA_BROKERS === undefined && (ssl || mechanism !== undefined)) {
    return 'KAFKA_SSL or KAFKA_SASL_* are given, but KAFKA_BROKERS is not set';
  }
  if (!ssl && (ca ?? cert ?? key) !== undefined) return 'KAFKA_SSL_* are given, but KAFKA_SSL is not true';
  if ((cert === undefined) !== (key === undefined)) return 'KAFKA_SSL_CERT and KAFKA_SSL_KEY go together';
  if (mechanism === undefined && (user ?? password) !== undefined) {
    return 'KAFKA_SASL_* are given, but KAFKA_SASL_MECHANISM is not set';
  }
  if (mechanism === undefined) return undefined;
  if (user === undefined || password === undefined) {
    return 'KAFKA_SASL_MECHANISM needs KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD';
  }
  if (mechanism === 'plain' && !ssl && !(config.KAFKA_BROKERS ?? []).every(isOnLoopback)) {
    return 'KAFKA_SASL_MECHANISM=plain would send the password unencrypted: it needs KAFKA_SSL=true';
  }
  return undefined;
}

function isOnLoopback(broker: string): boolean {
  return machineOf(hostAndPort(broker)?.host ?? '') === 'localhost';
}
