import '../kafkajs/idle-queues.js';
import path from 'node:path';
import { randomBytes } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { Kafka, logLevel } from 'kafkajs';
import { z } from 'zod';
import { type FolderLock, lockFolder } from '../files/folder-lock.js';
import { makeFolder, readIfThere } from '../files/make-folder.js';
import { isPortFree, pickPorts } from '../supervision/ports.js';
import { EXIT, StartFault } from '../process/start-fault.js';
import { markerOf } from '../supervision/marker.js';
import { Broker } from './broker.js';
import { type JarPlaces, kafkaJars } from './jars.js';
import type { BrokerPlace, ClusterPlan } from './server-properties.js';

export interface KafkaOptions extends JarPlaces {
  /** Data and logs; kept between starts. */
  readonly folder: string;
  readonly brokers: number;
  readonly settings?: ClusterPlan['settings'];
  /** Aborts a start that no caller waits for any more. */
  readonly signal?: AbortSignal;
}

const HOST = '127.0.0.1';
const CLUSTER_FILE = 'cluster.json';
/** The file in which a started broker keeps its cluster and node. */
const META = 'broker-1/data/meta.properties';
const PORTS_EACH = 2;
const USABLE_WITHIN_MS = 180_000;
const LOOK_MS = 100;

const KEPT = z.object({
  clusterId: z.string().regex(/^[\w-]{22}$/),
  ports: z.array(z.int().min(1).max(65_535)).refine(({ length }) => length > 0 && length % PORTS_EACH === 0),
});

type Kept = z.output<typeof KEPT>;

/** A real Apache Kafka on loopback: one process for each broker, which is also a controller. */
export class EmbeddedKafka {
  private constructor(
    readonly brokers: readonly Broker[],
    private readonly lock: FolderLock,
  ) {}

  static async start(options: KafkaOptions): Promise<EmbeddedKafka> {
    const jars = await kafkaJars(options);
    await makeFolder(options.folder, 0o755);
    const lock = await takenForThis(options.folder);
    try {
      return await EmbeddedKafka.inOwnFolder(options, jars, lock);
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  private static async inOwnFolder(
    options: KafkaOptions,
    jars: string,
    lock: FolderLock,
  ): Promise<EmbeddedKafka> {
    const { clusterId, ports } = await kept(options);
    const places = Array.from({ length: options.brokers }, (_, index): BrokerPlace => {
      const folder = path.join(options.folder, `broker-${index + 1}`);
      const [port = 0, controllerPort = 0] = ports.slice(PORTS_EACH * index);
      return { id: index + 1, host: HOST, port, controllerPort, folder };
    });
    const plan = { clusterId, jars, brokers: places, settings: options.settings ?? (() => ({})) };
    const kafka = new EmbeddedKafka(
      places.map((place) => new Broker(place, plan)),
      lock,
    );
    try {
      await Promise.all(kafka.brokers.map((broker) => broker.start()));
      await kafka.untilUsable(options.signal);
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

  /** Resolves when all brokers have found each other and a controller; rejects if one has ended instead. */
  async untilUsable(signal?: AbortSignal): Promise<void> {
    const deadline = Date.now() + USABLE_WITHIN_MS;
    while (!(await this.isUsable())) {
      signal?.throwIfAborted();
      const dead = this.brokers.find((broker) => !broker.isRunning);
      if (dead !== undefined || Date.now() > deadline) {
        const [broker] = dead === undefined ? this.brokers : [dead];
        const words = await broker?.lastWords();
        throw new StartFault(`broker ${broker?.place.id} did not start: ${words} (see ${broker?.logFile})`);
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.brokers.map((broker) => broker.stop()));
    await this.lock.release();
  }

  private async isUsable(): Promise<boolean> {
    const listening = await Promise.all(this.brokers.map(({ place }) => isListening(place)));
    if (listening.includes(false)) return false;
    const client = new Kafka({
      brokers: this.addresses,
      clientId: 'embedded-kafka',
      logLevel: logLevel.NOTHING,
      retry: { retries: 0 },
    });
    const admin = client.admin();
    try {
      await admin.connect();
      const { brokers, controller } = await admin.describeCluster();
      return brokers.length === this.brokers.length && controller !== null;
    } catch {
      return false;
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
  }
}

function isListening({ host, port }: BrokerPlace): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const done = (result: boolean): void => {
      socket.destroy();
      resolve(result);
    };
    socket.once('connect', () => done(true)).once('error', () => done(false));
  });
}

/** Two concurrent starts in one folder would overwrite each other's preparation. */
async function takenForThis(folder: string): Promise<FolderLock> {
  const marker = await markerOf(folder);
  const outcome = await lockFolder(`kafka-${marker.folder}`, `process ${process.pid}`);
  if ('lock' in outcome) return outcome.lock;
  throw new StartFault(`the Kafka in ${folder} runs already (${outcome.heldBy})`);
}

/** A cluster keeps its id and its ports, because both are in its data. */
async function kept({ folder, brokers }: KafkaOptions): Promise<Kept> {
  const file = path.join(folder, CLUSTER_FILE);
  const text = await readIfThere(file);
  if (text === undefined) {
    // A cluster with data keeps its id and its ports: clients know it by them.
    if ((await readIfThere(path.join(folder, META))) !== undefined) throw mendable(file, 'is gone');
    const made: Kept = { clusterId: newClusterId(), ports: await pickPorts(PORTS_EACH * brokers) };
    // Written whole or not at all: half a file would count as damage ever after.
    await writeFile(`${file}.new`, JSON.stringify(made));
    await rename(`${file}.new`, file);
    return made;
  }
  const found = keptIn(text);
  if (found === undefined) throw mendable(file, 'is damaged');
  const before = found.ports.length / PORTS_EACH;
  if (before !== brokers) {
    throw new StartFault(`${folder} holds a cluster of ${before}, not of ${brokers}`, EXIT.config);
  }
  for (const port of found.ports) {
    if (await isPortFree(port, HOST)) continue;
    throw new StartFault(`port ${port} of the Kafka in ${folder} is taken by another process`);
  }
  return found;
}

function mendable(file: string, what: string): StartFault {
  const form = '{"clusterId":"...","ports":[port, controller port, and so on for each broker]}';
  return new StartFault(
    `${file} ${what}: write it anew as ${form}, with the cluster.id of ${META} and the ports that stand under listeners in each server.properties, or take another folder`,
    EXIT.damaged,
  );
}

/** Undefined if it is not what was written. */
function keptIn(text: string): Kept | undefined {
  try {
    return KEPT.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Begins with a letter: Kafka's own tools would read a dash as an option. */
function newClusterId(): string {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0] ?? 0) & 0x7f;
  return bytes.toString('base64url');
}
