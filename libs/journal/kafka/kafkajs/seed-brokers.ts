import plainSockets from 'kafkajs/src/network/socketFactory.js';
import type { ISocketFactory } from 'kafkajs';
import { hostAndPort, type KafkaAddress } from './kafka-address.js';

/**
 * The brokers that were named, as kafkajs takes them: it cuts an address at its first colon, so one of IPv6 goes by a name without any
 * until its socket is made.
 */
export function seedBrokers({
  brokers,
  socketFactory = plainSockets(),
}: Pick<KafkaAddress, 'brokers' | 'socketFactory'>): {
  readonly brokers: string[];
  readonly socketFactory: ISocketFactory;
} {
  const hosts = new Map<string, string>();
  const named = brokers.map((broker) => {
    const { host, port } = hostAndPort(broker) ?? {};
    if (host?.includes(':') !== true) return broker;
    const name = host.replaceAll(':', '-');
    hosts.set(name, host);
    return `${name}:${port}`;
  });
  return {
    brokers: named,
    socketFactory: (wanted) => socketFactory({ ...wanted, host: hosts.get(wanted.host) ?? wanted.host }),
  };
}
