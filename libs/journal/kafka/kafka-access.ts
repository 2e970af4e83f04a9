import type { ConnectionOptions } from 'node:tls';
import type { SASLOptions } from 'kafkajs';
import type { KafkaSettings } from './kafka-settings.js';
import type { KafkaAddress } from './kafkajs/kafka-address.js';
import { certificates, privateKey } from './pem-files.js';

/** How to connect to the brokers; undefined if the settings name none. */
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
  const { KAFKA_SSL_CA: caFile, KAFKA_SSL_CERT: certFile, KAFKA_SSL_KEY: keyFile } = settings;
  const ca = caFile === undefined ? undefined : await certificates('KAFKA_SSL_CA', caFile);
  const cert = certFile === undefined ? undefined : await certificates('KAFKA_SSL_CERT', certFile);
  const shown = cert === undefined ? undefined : { setting: 'KAFKA_SSL_CERT', certificate: cert };
  const key = keyFile === undefined ? undefined : await privateKey('KAFKA_SSL_KEY', keyFile, shown);
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}

function saslOf({
  KAFKA_SASL_MECHANISM: mechanism,
  KAFKA_SASL_USERNAME: username,
  KAFKA_SASL_PASSWORD: password,
}: KafkaSettings): SASLOptions | undefined {
  if (mechanism === undefined || username === undefined || password === undefined) return undefined;
  return { mechanism, username, password };
}
