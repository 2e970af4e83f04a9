import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pickPorts } from '../ports.js';
import { Broker, type BrokerPlace } from './broker.js';
import { kafkaJars } from './jars.js';

export interface KafkaOptions {
  /** Data and logs; kept between starts. */
  readonly folder: string;
  readonly brokers: number;
  /** Where the jars are kept. */
  readonly cacheFolder: string;
  /** Names the jars. */
  readonly pom: string;
  /** Those of the first start stay unless given. */
  readonly ports?: readonly number[];
  readonly settings?: Readonly<Record<string, string>>;
}

const HOST = '127.0.0.1';
const CLUSTER_FILE = 'cluster.json';

interface Kept {
  readonly clusterId: string;
  readonly ports: readonly number[];
}

/** A real Apache Kafka on loopback: as many processes as brokers, each of them a controller too. */
export class EmbeddedKafka {
  private constructor(readonly brokers: readonly Broker[]) {}

  static async start(options: KafkaOptions): Promise<EmbeddedKafka> {
    const jars = await kafkaJars(options.pom, options.cacheFolder);
    await mkdir(options.folder, { recursive: true });
    const { clusterId, ports } = await kept(options);
    const places = Array.from({ length: options.brokers }, (_, index): BrokerPlace => {
      const folder = path.join(options.folder, `broker-${index + 1}`);
      const [port = 0, controllerPort = 0] = ports.slice(2 * index, 2 * index + 2);
      return { id: index + 1, host: HOST, port, controllerPort, folder };
    });
    const plan = { clusterId, jars, brokers: places, settings: options.settings ?? {} };
    const kafka = new EmbeddedKafka(places.map((place) => new Broker(place, plan)));
    try {
      await Promise.all(kafka.brokers.map((broker) => broker.start()));
      await Promise.all(kafka.brokers.map((broker) => broker.untilListening()));
    } catch (error) {
      await kafka.stop();
      throw error;
    }
    return kafka;
  }

  /** `host:port` of every broker, as KAFKA_BROKERS takes them. */
  get addresses(): string[] {
    return this.brokers.map(({ place }) => `${place.host}:${place.port}`);
  }

  async stop(): Promise<void> {
    await Promise.all(this.brokers.map((broker) => broker.stop()));
  }
}

/** A cluster keeps its id and its ports, for both stand in its data. */
async function kept({ folder, brokers, ports }: KafkaOptions): Promise<Kept> {
  const file = path.join(folder, CLUSTER_FILE);
  const found = await readFile(file, 'utf8').then(
    (text) => JSON.parse(text) as Kept,
    () => undefined,
  );
  const made: Kept = {
    clusterId: found?.clusterId ?? randomBytes(16).toString('base64url'),
    ports: ports ?? found?.ports ?? (await pickPorts(2 * brokers)),
  };
  await writeFile(file, JSON.stringify(made));
  return made;
}
