import { readFile } from 'node:fs/promises';
import type { ConnectionOptions } from 'node:tls';
import type { SASLOptions } from 'kafkajs';
import { ConfigFault } from '#libs/platform/start-fault.js';
import type { KafkaSettings } from './kafka-settings.js';
import type { KafkaAddress } from './kafkajs/kafka-address.js';

/** Where the brokers are and how one gets in; undefined where the settings name none. */
export async function kafkaAddress(
  settings: KafkaSettings,
  clientId: string,
): Promise<KafkaAddress | undefined> {
  const { KAFKA_BROKERS: brokers } = settings;
  if (brokers === undefined) return undefined;
  const [ssl, sasl] = [await sslOf(settings), saslOf(settings)];
  return {
    brokers,
    clientId,
    ...(ssl === undefined ? {} : { ssl }),
    ...(sasl === undefined ? {} : { sasl }),
  };
}

async function sslOf(settings: KafkaSettings): Promise<ConnectionOptions | undefined> {
  if (!settings.KAFKA_SSL) return undefined;
  const [ca, cert, key] = await Promise.all([
    pem('KAFKA_SSL_CA', settings.KAFKA_SSL_CA),
    pem('KAFKA_SSL_CERT', settings.KAFKA_SSL_CERT),
    pem('KAFKA_SSL_KEY', settings.KAFKA_SSL_KEY),
  ]);
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}

async function pem(name: string, file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  return readFile(file, 'utf8').catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigFault([`${name}=${JSON.stringify(file)} is wrong: it cannot be read (${reason})`]);
  });
}

function saslOf({
  KAFKA_SASL_MECHANISM: mechanism,
  KAFKA_SASL_USERNAME: username,
  KAFKA_SASL_PASSWORD: password,
}: KafkaSettings): SASLOptions | undefined {
  if (mechanism === undefined || username === undefined || password === undefined) return undefined;
  return { mechanism, username, password };
}
