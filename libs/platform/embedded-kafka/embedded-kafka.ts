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
  /** The folder of data and logs, which stays between starts. */
  readonly folder: string;
  readonly brokers: number;
  readonly settings?: ClusterPlan['settings'];
  /** Aborts a start that is no longer needed. */
  readonly signal?: AbortSignal;
}

const HOST = '127.0.0.1';
const CLUSTER_FILE = 'cluster.json';
/** The file in which a broker stores its cluster id and node id. */
const META = 'broker-1/data/meta.properties';
const PORTS_EACH = 2;
const USABLE_WITHIN_MS = 180_000;
const POLL_MS = 100;

const CLUSTER_SCHEMA = z.object({
  clusterId: z.string().regex(/^[\w-]{22}$/),
  ports: z.array(z.int().min(1).max(65_535)).refine(({ length }) => length > 0 && length % PORTS_EACH === 0),
});

type ClusterIdentity = z.output<typeof CLUSTER_SCHEMA>;

/** A real Apache Kafka on loopback. Each broker is one process and also a controller. */
export class EmbeddedKafka {
  private constructor(
    readonly brokers: readonly Broker[],
    private readonly lock: FolderLock,
  ) {}

  static async start(options: KafkaOptions): Promise<EmbeddedKafka> {
    const jars = await kafkaJars(options);
    await makeFolder(options.folder, 0o755);
    const lock = await lockForKafka(options.folder);
    try {
      return await EmbeddedKafka.startLocked(options, jars, lock);
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  private static async startLocked(
    options: KafkaOptions,
    jars: string,
    lock: FolderLock,
  ): Promise<EmbeddedKafka> {
    const { clusterId, ports } = await loadOrCreateIdentity(options);
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

  /** `host:port` of every broker, in the form of KAFKA_BROKERS. */
  get addresses(): string[] {
    return this.brokers.map(({ place }) => `${place.host}:${place.port}`);
  }

  /** Resolves when all brokers have found each other and a controller. Rejects if one of them has ended. */
  async untilUsable(signal?: AbortSignal): Promise<void> {
    const deadline = Date.now() + USABLE_WITHIN_MS;
    while (!(await this.isUsable())) {
      signal?.throwIfAborted();
      const dead = this.brokers.find((broker) => !broker.isRunning);
      if (dead !== undefined || Date.now() > deadline) {
        const [broker] = dead === undefined ? this.brokers : [dead];
        const lastWords = await broker?.lastWords();
        throw new StartFault(
          `broker ${broker?.place.id} did not start: ${lastWords} (see ${broker?.logFile})`,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
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

/** Two concurrent starts in one folder would overwrite each other's files. */
async function lockForKafka(folder: string): Promise<FolderLock> {
  const marker = await markerOf(folder);
  const outcome = await lockFolder(`kafka-${marker.folder}`, `process ${process.pid}`);
  if ('lock' in outcome) return outcome.lock;
  throw new StartFault(`the Kafka in ${folder} is already running (${outcome.heldBy})`);
}

/** A cluster keeps its id and its ports, because both are stored in its data. */
async function loadOrCreateIdentity({ folder, brokers }: KafkaOptions): Promise<ClusterIdentity> {
  const file = path.join(folder, CLUSTER_FILE);
  const text = await readIfThere(file);
  if (text === undefined) {
    // New values would not match the existing data.
    if ((await readIfThere(path.join(folder, META))) !== undefined)
      throw clusterFileFault(file, 'is missing');
    const created: ClusterIdentity = {
      clusterId: newClusterId(),
      ports: await pickPorts(PORTS_EACH * brokers),
    };
    // Renamed when complete, because half a file would count as damaged at every later start.
    await writeFile(`${file}.new`, JSON.stringify(created));
    await rename(`${file}.new`, file);
    return created;
  }
  const found = parseIdentity(text);
  if (found === undefined) throw clusterFileFault(file, 'is damaged');
  const storedBrokers = found.ports.length / PORTS_EACH;
  if (storedBrokers !== brokers) {
    throw new StartFault(`${folder} holds a cluster of ${storedBrokers}, not of ${brokers}`, EXIT.config);
  }
  for (const port of found.ports) {
    if (await isPortFree(port, HOST)) continue;
    throw new StartFault(`port ${port} of the Kafka in ${folder} is taken by another process`);
  }
  return found;
}

function clusterFileFault(file: string, what: string): StartFault {
  const form = '{"clusterId":"...","ports":[port, controller port, and so on for each broker]}';
  return new StartFault(
    `${file} ${what}: write it again as ${form}, with the cluster.id from ${META} and the ports under listeners in each server.properties, or use another folder`,
    EXIT.damaged,
  );
}

/** Undefined for a damaged file. */
function parseIdentity(text: string): ClusterIdentity | undefined {
  try {
    return CLUSTER_SCHEMA.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Must not begin with a dash, which Kafka's tools would read as an option. */
function newClusterId(): string {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0] ?? 0) & 0x7f;
  return bytes.toString('base64url');
}
