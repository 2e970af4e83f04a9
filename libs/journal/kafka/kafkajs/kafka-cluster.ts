import plainSockets from 'kafkajs/src/network/socketFactory.js';
import { type HostAndPort, hostAndPort, type KafkaAddress } from './kafka-address.js';
import type { ISocketFactory } from 'kafkajs';

/** A configured or advertised broker that belongs to another Kafka cluster. */
export class StrangeBroker extends Error {
  override readonly name = 'StrangeBroker';

  constructor(
    broker: string,
    clusterId: string,
    readonly expected: string,
  ) {
    super(`broker ${broker} belongs to Kafka cluster ${clusterId}, and the journals are in ${expected}`);
  }
}

export interface ClusterPorts {
  /** The id of the cluster that is known to have the journals; undefined until that is settled. */
  readonly settled?: () => Promise<string | undefined>;
  /** Receives one line for each broker that is ignored because it belongs to another cluster. */
  readonly tell?: ((line: string) => void) | undefined;
}

/**
 * The one Kafka cluster that a process uses, identified by the cluster id in the brokers' replies. A name is no proof: a
 * configured broker may belong to another cluster, or its address may belong to another machine now. See docs/decisions/07.
 */
export class KafkaCluster {
  private known: string | undefined;
  /** The id of the first cluster that answered, while nothing is settled. */
  private first: string | undefined;
  private readonly strange = new Set<string>();

  constructor(private readonly ports: ClusterPorts = {}) {}

  /** Called before brokers are asked: the database may know the cluster by then. */
  async learn(): Promise<void> {
    this.known ??= await this.ports.settled?.();
  }

  /** Whether a broker is ignored because it belongs to another cluster. */
  isStrange(broker: string): boolean {
    return this.strange.has(broker);
  }

  /** Throws for a broker of another cluster: it must get no further requests. */
  admit(broker: string, clusterId: string): void {
    const expected = this.known ?? (this.first ??= clusterId);
    if (clusterId === expected) return;
    const strange = new StrangeBroker(broker, clusterId, expected);
    if (!this.strange.has(broker)) {
      this.strange.add(broker);
      this.ports.tell?.(`${strange.message}: it is ignored`);
    }
    throw strange;
  }
}

export function nameOf({ host, port }: HostAndPort): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/**
 * The configured brokers as kafkajs accepts them. It cuts an address at its first colon, so an IPv6 address is replaced by a name
 * until its socket is opened.
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
