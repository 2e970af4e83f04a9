import type { ISocketFactory, SASLOptions } from 'kafkajs';
import type { ConnectionOptions } from 'node:tls';

export interface KafkaAddress {
  /** `host:port` of some brokers; these name the others. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly ssl?: ConnectionOptions;
  readonly sasl?: SASLOptions;
  /** Opens connections, if not directly to the brokers' advertised addresses. */
  readonly socketFactory?: ISocketFactory;
  /** A connection without a reply to a read for this long is closed. */
  readonly readWithinMillis?: number;
}

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** `broker.example:9092`, `[::1]:9092`; undefined for anything else. */
export function hostAndPort(text: string): HostAndPort | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s/@]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}
