import type { ISocketFactory, SASLOptions } from 'kafkajs';
import Cluster, { type Broker } from 'kafkajs/src/cluster/index.js';
import loggers from 'kafkajs/src/loggers/index.js';
import plainSockets from 'kafkajs/src/network/socketFactory.js';
import type { ConnectionOptions } from 'node:tls';
import { SendLost, SendRefused, type LogMessage, type TopicLog } from '../topic-log.js';

export interface KafkaAddress {
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly ssl?: boolean | ConnectionOptions;
  readonly sasl?: SASLOptions;
  /** How connections are made, where it is not straight to where the brokers say they are. */
  readonly socketFactory?: ISocketFactory;
  /** After this long a connection that does not answer a read is given up. */
  readonly readWithinMillis?: number;
}

const CONNECT_MILLIS = 3_000;
const REQUEST_MILLIS = 30_000;
const READ_MILLIS = 5_000;
const METADATA_AGE_MILLIS = 60_000;
const SILENT = 0;
const ALL_IN_SYNC = -1;
const CONSUMER = -1;
const UNCOMMITTED = 0;
const LATEST = -1;

/** A broker that answers with one of these has written nothing. */
const REFUSALS: ReadonlySet<string> = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'NOT_LEADER_FOR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'UNKNOWN_TOPIC_OR_PARTITION',
  'INVALID_TOPIC_EXCEPTION',
  'NOT_ENOUGH_REPLICAS',
  'TOPIC_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'INVALID_REQUIRED_ACKS',
  'UNSUPPORTED_FOR_MESSAGE_FORMAT',
  'CORRUPT_MESSAGE',
]);
const NO_TOPIC = 'UNKNOWN_TOPIC_OR_PARTITION';
/** Somebody else leads by now, or will soon. */
const MOVED: ReadonlySet<string> = new Set([
  'NOT_LEADER_FOR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'UNKNOWN_TOPIC_OR_PARTITION',
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_LEADER_EPOCH',
]);

/** One topic of a cluster through kafkajs's own protocol layer. Every log has its connections for itself. */
export class KafkajsLog implements TopicLog {
  private cluster: Cluster;
  private connected: Promise<void> | undefined;

  constructor(
    private readonly address: KafkaAddress,
    private readonly topic: string,
  ) {
    this.cluster = openCluster(address);
  }

  async append(values: readonly Buffer[], withinMillis: number): Promise<number> {
    const broker = await this.leader().catch((error: unknown) => {
      throw new SendRefused(messageOf(error), { cause: error });
    });
    const messages = values.map((value) => ({ value }));
    const topicData = [{ topic: this.topic, partitions: [{ partition: 0, firstSequence: 0, messages }] }];
    try {
      const sent = broker.produce({ acks: ALL_IN_SYNC, timeout: withinMillis, topicData });
      const { topics } = await within(withinMillis, sent);
      const offset = Number(topics[0]?.partitions[0]?.baseOffset);
      if (!Number.isSafeInteger(offset) || offset < 0) throw new Error('an answer without an offset');
      return offset;
    } catch (error) {
      const type = typeOf(error);
      if (type === '') this.reconnect();
      else if (MOVED.has(type)) this.connected = undefined;
      if (REFUSALS.has(type)) throw new SendRefused(type, { cause: error });
      throw new SendLost(messageOf(error), { cause: error });
    }
  }

  async end(): Promise<number> {
    const answer = await this.ask((broker) =>
      broker.listOffsets({
        replicaId: CONSUMER,
        isolationLevel: UNCOMMITTED,
        topics: [{ topic: this.topic, partitions: [{ partition: 0, timestamp: LATEST }] }],
      }),
    );
    return Number(answer?.responses[0]?.partitions[0]?.offset ?? 0);
  }

  async fetch(offset: number, maxBytes: number): Promise<readonly LogMessage[]> {
    const answer = await this.ask((broker) =>
      broker.fetch({
        replicaId: CONSUMER,
        isolationLevel: UNCOMMITTED,
        maxWaitTime: 0,
        minBytes: 1,
        maxBytes,
        topics: [
          { topic: this.topic, partitions: [{ partition: 0, fetchOffset: String(offset), maxBytes }] },
        ],
      }),
    );
    const messages: LogMessage[] = [];
    for (const { offset: at, value, isControlRecord } of answer?.responses[0]?.partitions[0]?.messages ??
      []) {
      // A batch comes whole, also from an offset in its midst.
      if (Number(at) >= offset && isControlRecord !== true) {
        messages.push({ offset: Number(at), value: value ?? Buffer.alloc(0) });
      }
    }
    return messages;
  }

  async close(): Promise<void> {
    await this.cluster.disconnect();
  }

  /** Reads may be asked again: once, where the leader has moved or the connection broke. Undefined without a topic. */
  private async ask<T>(question: (broker: Broker) => Promise<T>): Promise<T | undefined> {
    const { readWithinMillis = READ_MILLIS } = this.address;
    const once = async (): Promise<T> => {
      const answer = this.leader().then(question);
      return await within(readWithinMillis, answer);
    };
    try {
      return await once();
    } catch (error) {
      if (typeOf(error) === '') this.reconnect();
      else this.connected = undefined;
    }
    return await once().catch((error: unknown) => {
      if (typeOf(error) === '') this.reconnect();
      if (typeOf(error) === NO_TOPIC) return undefined;
      throw error;
    });
  }

  private async leader(): Promise<Broker> {
    this.connected ??= this.connect(this.cluster);
    const { connected, cluster } = this;
    try {
      await connected;
      const [nodeId] = Object.keys(cluster.findLeaderForPartitions(this.topic, [0]));
      if (nodeId === undefined) throw new Error(`topic ${this.topic} has no leader`);
      return await cluster.findBroker({ nodeId });
    } catch (error) {
      if (this.connected === connected) this.connected = undefined;
      throw error;
    }
  }

  private async connect(cluster: Cluster): Promise<void> {
    await cluster.connect();
    await cluster.addTargetTopic(this.topic);
    await cluster.refreshMetadata();
  }

  /** A connection that has gone silent would go on being silent. */
  private reconnect(): void {
    const { cluster } = this;
    this.cluster = openCluster(this.address);
    this.connected = undefined;
    cluster.disconnect().catch(() => undefined);
  }
}

export function openCluster({ brokers, clientId, ssl, sasl, socketFactory }: KafkaAddress): Cluster {
  return new Cluster({
    brokers: [...brokers],
    clientId,
    ssl,
    sasl,
    logger: loggers.createLogger({ level: SILENT, logCreator: () => () => undefined }),
    socketFactory: socketFactory ?? plainSockets(),
    connectionTimeout: CONNECT_MILLIS,
    requestTimeout: REQUEST_MILLIS,
    enforceRequestTimeout: true,
    metadataMaxAge: METADATA_AGE_MILLIS,
    allowAutoTopicCreation: false,
    retry: { retries: 0 },
  });
}

/** What is late is lost: nobody waits for it any more, and what it says then is not listened to. */
async function within<T>(millis: number, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`no answer within ${millis} ms`));
    }, millis);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
    answer.catch(() => undefined);
  }
}

function typeOf(error: unknown): string {
  return error instanceof Error && 'type' in error && typeof error.type === 'string' ? error.type : '';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
