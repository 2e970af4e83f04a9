/** The address and the folder of one broker on this machine. */
export interface BrokerPlace {
  readonly id: number;
  readonly host: string;
  readonly port: number;
  readonly controllerPort: number;
  readonly folder: string;
}

export interface ClusterPlan {
  readonly clusterId: string;
  readonly jars: string;
  readonly brokers: readonly BrokerPlace[];
  /** Additional settings, which override ours. */
  readonly settings: (place: BrokerPlace) => Readonly<Record<string, string>>;
}

/** Relative to the broker's folder, its working directory. */
export const DATA_FOLDER = 'data';

const MAX_MESSAGE_BYTES = String(20 * 1024 * 1024);

/** The text of a broker's `server.properties`. */
export function propertiesOf(place: BrokerPlace, { brokers, settings }: ClusterPlan): string {
  const copies = String(Math.min(3, brokers.length));
  const all: Record<string, string> = {
    'process.roles': 'broker,controller',
    'node.id': String(place.id),
    'controller.quorum.voters': brokers
      .map(({ id, host, controllerPort }) => `${id}@${host}:${controllerPort}`)
      .join(','),
    listeners: `PLAINTEXT://${place.host}:${place.port},CONTROLLER://${place.host}:${place.controllerPort}`,
    'advertised.listeners': `PLAINTEXT://${place.host}:${place.port}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    // This is a list without escapes, in which an absolute path with a comma would be two folders.
    'log.dirs': DATA_FOLDER,
    'auto.create.topics.enable': 'false',
    'default.replication.factor': copies,
    'offsets.topic.replication.factor': copies,
    'transaction.state.log.replication.factor': copies,
    'transaction.state.log.min.isr': '1',
    'group.initial.rebalance.delay.ms': '0',
    'message.max.bytes': MAX_MESSAGE_BYTES,
    'replica.fetch.max.bytes': MAX_MESSAGE_BYTES,
    // Detects a lost broker sooner than the default of nine seconds.
    'broker.session.timeout.ms': '6000',
    ...settings(place),
  };
  return Object.entries(all)
    .map(([name, value]) => `${name}=${escaped(value)}\n`)
    .join('');
}

/** Java reads the file as Latin-1 with backslash escapes, and skips leading blanks of a value. */
function escaped(value: string): string {
  return value.replaceAll(/^\s|[^\x20-\x7e]|\\/g, (unit) => {
    if (unit === '\\' || unit === ' ') return `\\${unit}`;
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
