import '#libs/platform/kafkajs/idle-queues.js';
import kafkajs, { Kafka, logLevel, type Admin } from 'kafkajs';
import { type Clock, pause } from '#libs/platform/time/clock.js';
import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';
import { WrongBackend } from '../../backend/journal-backend.js';
import { messageOf } from '../../journal-errors.js';
import type { JournalFamily } from '../../journal-id.js';
import { Countdown } from '../countdown.js';
import { KafkaUnsettled, type TopicLog } from '../topic-log.js';
import { inPlainWords, typeOf, within } from './broker-link.js';
import type { KafkaAddress } from './kafka-address.js';
import { KafkaCluster, seedBrokers, StrangeBroker } from './kafka-cluster.js';
import { KafkajsLog } from './kafkajs-log.js';
import { isNotAllowed, withRight } from './rights.js';
import { type FoundTopic, replicasAmong, settingsFor, unfitness } from './topic-settings.js';

const KNOWN_WITHIN_MILLIS = 15_000;
const LOOK_MILLIS = 100;
const LEAST_ATTEMPTS = 3;
const AGAIN_MILLIS = 500;
const UNKNOWN = 'UNKNOWN_TOPIC_OR_PARTITION';
const NOT_YET: ReadonlySet<string> = new Set([UNKNOWN, 'LEADER_NOT_AVAILABLE', 'NOT_LEADER_FOR_PARTITION']);
/** Errors that pass once another broker leads; an unreachable broker counts too. */
const UNSETTLED: ReadonlySet<string> = new Set([
  '',
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_FOR_PARTITION',
  'NOT_CONTROLLER',
  'BROKER_NOT_AVAILABLE',
  'REQUEST_TIMED_OUT',
]);
const RETRY = { retries: 2, initialRetryTime: 200, maxRetryTime: 1_000 };
/** Time limit for connecting, shared by the configured brokers: a broker that hangs is skipped. */
const CONNECTED_WITHIN_MILLIS = 30_000;
/** A broker that has just started, or is busy, may need this long. */
const ANSWER_MILLIS = 10_000;
const TOO_MANY_REPLICAS = 'INVALID_REPLICATION_FACTOR';
const DEFAULT_REPLICAS = 'default.replication.factor';

/** A topic that exists and would lose or change its records. */
export class TopicUnfit extends StartFault {
  constructor(topic: string, faults: readonly string[]) {
    super(`topic ${topic} cannot keep a journal: ${faults.join('; ')}`, EXIT.config);
  }
}

/** A new topic needs more copies than brokers are running. Copies are not added later, so it is not created. */
class TooFewBrokers extends StartFault {
  constructor(topic: string, replicas: number, there: number, named: number) {
    super(
      `topic ${topic} needs ${replicas} copies, but only ${there} of the brokers can hold one: KAFKA_BROKERS names ${named}. ` +
        `Start the brokers that are down, or name only brokers that exist; the brokers' ${DEFAULT_REPLICAS} counts too`,
    );
  }
}

/**
 * No setting brings the messages back, so the loss is reported first. A wrong setting may be the cause, and is reported with it.
 */
class TopicBeginningGone extends StartFault {
  constructor(topic: string, start: number, faults: readonly string[]) {
    const lost = `topic ${topic} has lost its journal: its first ${start} messages are gone, restore the topic as it was`;
    super([lost, ...faults].join('; '), EXIT.damaged);
  }
}

/** The part of the name before the shard's number, with a dot after the family. */
export interface TopicNames {
  readonly prefix: string;
  readonly family: JournalFamily;
}

/** Creates, checks and opens the topics of a journal. */
export class KafkajsTopics {
  /** Asked in this order. The broker that replied last comes first. */
  private seeds: readonly string[];
  /** Brokers that were asked to which cluster they belong. */
  private readonly asked = new Set<string>();

  constructor(
    private readonly address: KafkaAddress,
    private readonly names: TopicNames,
    private readonly clock: Clock,
    private readonly cluster = new KafkaCluster(),
  ) {
    this.seeds = address.brokers;
  }

  nameOf(shard: number): string {
    const { prefix, family } = this.names;
    return `${prefix}${family}.${shard}`;
  }

  open(shard: number): TopicLog {
    return new KafkajsLog(this.address, this.nameOf(shard), this.clock, this.cluster);
  }

  clusterId(): Promise<string> {
    return this.withAdmin(async (admin) => (await admin.describeCluster()).clusterId);
  }

  async exists(shard: number): Promise<boolean> {
    return await this.withAdmin(async (admin) => this.isThere(admin, shard, await this.replicas(admin)));
  }

  /** Whether there is a topic; refuses one that is unfit for a journal. */
  async isThereAndFit(shard: number): Promise<boolean> {
    return await this.withAdmin(async (admin) => {
      const replicas = await this.replicas(admin);
      if (!(await this.isThere(admin, shard, replicas))) return false;
      await this.checkFit(admin, shard, replicas);
      return true;
    });
  }

  /** For a writer: creates a missing topic, and refuses one that is unfit for a journal. */
  async prepare(shard: number): Promise<TopicLog> {
    await this.withAdmin(async (admin) => {
      const replicas = await this.replicas(admin);
      const topic = this.nameOf(shard);
      if (!(await isKnown(admin, topic))) {
        await withRight('CREATE', topic, this.create(admin, topic, replicas, 'really'));
      }
      await this.checkFit(admin, shard, replicas);
    });
    return this.open(shard);
  }

  /** For a writer of an existing topic. */
  async openFit(shard: number): Promise<TopicLog> {
    await this.withAdmin(async (admin) => this.checkFit(admin, shard, await this.replicas(admin)));
    return this.open(shard);
  }

  /** Deletes a journal. */
  async remove(shard: number): Promise<void> {
    await this.withAdmin((admin) => admin.deleteTopics({ topics: [this.nameOf(shard)] }));
  }

  /**
   * The number of copies cannot be raised later. A broker that is down counts if it is configured. If only some brokers are
   * configured, the brokers' own default tells how many copies are usual.
   */
  private async replicas(admin: Admin): Promise<number> {
    const { brokers } = await admin.describeCluster();
    await this.askOthers();
    const usual = await usualReplicas(admin, brokers[0]?.nodeId);
    return replicasAmong(Math.max(brokers.length, this.named, usual));
  }

  /** The number of configured brokers that may belong to this Kafka. */
  private get named(): number {
    return this.address.brokers.filter((broker) => !this.cluster.isStrange(broker)).length;
  }

  /** A broker that was not asked yet may belong to another cluster; a silent one counts as ours and down. */
  private async askOthers(): Promise<void> {
    const others = this.address.brokers.filter((broker) => !this.asked.has(broker));
    for (const broker of others) this.asked.add(broker);
    await Promise.allSettled(
      others.map((broker) => this.withAdminAt(broker, (admin) => this.admit(admin, broker))),
    );
  }

  /** Throws if the broker belongs to another cluster. */
  private async admit(admin: Admin, broker: string): Promise<void> {
    this.asked.add(broker);
    this.cluster.admit(broker, (await admin.describeCluster()).clusterId);
  }

  /** Asks the controller if a broker knows no topic: the broker may not have heard of it yet. */
  private async isThere(admin: Admin, shard: number, replicas: number): Promise<boolean> {
    const topic = this.nameOf(shard);
    if (await isKnown(admin, topic)) return true;
    return !(await this.create(admin, topic, replicas, 'only ask').catch(unlessNotAllowed));
  }

  private async checkFit(admin: Admin, shard: number, replicas: number): Promise<void> {
    const topic = this.nameOf(shard);
    const found = await this.findAfterwards(admin, topic);
    const faults = unfitness(found, replicas);
    if (found.start > 0) throw new TopicBeginningGone(topic, found.start, faults);
    if (faults.length > 0) throw new TopicUnfit(topic, faults);
    await this.checkRights(topic);
  }

  /** Checked before any process starts, and before writing to a topic that could not be read back, or not be continued. */
  private async checkRights(topic: string): Promise<void> {
    const log = new KafkajsLog(this.address, topic, this.clock, this.cluster);
    try {
      await withRight('READ', topic, log.mayRead());
      await withRight('WRITE', topic, log.mayWrite());
    } finally {
      await log.close();
    }
  }

  /** Returns false, without a change, if the topic exists already. */
  private async create(
    admin: Admin,
    topic: string,
    replicas: number,
    how: 'really' | 'only ask',
  ): Promise<boolean> {
    const configEntries = settingsFor(replicas).map(([name, value]) => ({ name, value }));
    const creating = admin.createTopics({
      // kafkajs itself would give up at the first broker that does not know the topic yet.
      waitForLeaders: false,
      validateOnly: how === 'only ask',
      topics: [{ topic, numPartitions: 1, replicationFactor: replicas, configEntries }],
    });
    return await creating.catch(async (error: unknown) => {
      if (typeOf(error) !== TOO_MANY_REPLICAS) throw error;
      const { brokers } = await admin.describeCluster();
      throw new TooFewBrokers(topic, replicas, brokers.length, this.named);
    });
  }

  /** Retries, because not every broker knows a new topic yet. */
  private async findAfterwards(admin: Admin, topic: string): Promise<FoundTopic> {
    const remaining = new Countdown(this.clock, KNOWN_WITHIN_MILLIS);
    for (;;) {
      try {
        return await this.find(admin, topic);
      } catch (error) {
        if (!NOT_YET.has(typeOf(error)) || remaining.isOver) throw error;
      }
      await pause(this.clock, LOOK_MILLIS);
    }
  }

  private async find(admin: Admin, topic: string): Promise<FoundTopic> {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    const partitions = topics[0]?.partitions ?? [];
    const [offsets] = await withRight('DESCRIBE', topic, admin.fetchTopicOffsets(topic));
    const asked = { type: kafkajs.ConfigResourceTypes.TOPIC, name: topic };
    const { resources } = await withRight(
      'DESCRIBE_CONFIGS',
      topic,
      admin.describeConfigs({ includeSynonyms: false, resources: [asked] }),
    );
    const entries = resources[0]?.configEntries ?? [];
    return {
      partitions: partitions.length,
      replicas: partitions[0]?.replicas.length ?? 0,
      start: Number(offsets?.low ?? 0),
      settings: new Map(entries.map(({ configName, configValue }) => [configName, configValue])),
    };
  }

  /**
   * Asks the configured brokers one after the other, because kafkajs would stay with one that accepts connections and hangs. A
   * single broker is asked again: it may refer to a broker whose loss it has not noticed.
   */
  private async withAdmin<T>(work: (admin: Admin) => Promise<T>): Promise<T> {
    const remaining = new Countdown(this.clock, CONNECTED_WITHIN_MILLIS);
    const found = { any: false };
    const whenFound = async (admin: Admin, seed: string): Promise<T> => {
      await this.admit(admin, seed);
      found.any = true;
      return await work(admin);
    };
    const strange = new Set<string>();
    let failure: unknown;
    await this.cluster.learn();
    for (let left = Math.max(this.seeds.length, LEAST_ATTEMPTS) - 1; ; left -= 1) {
      const [seed = ''] = this.seeds;
      try {
        return await this.withAdminAt(seed, whenFound);
      } catch (error) {
        if (error instanceof StartFault) throw error;
        if (error instanceof StrangeBroker) {
          strange.add(seed);
          if (strange.size === this.seeds.length) throw ofAnother(error);
        } else failure = error;
        // Another broker would give the same reply.
        if (left === 0 || remaining.isOver || typeOf(error) !== '') {
          const Fault = found.any && UNSETTLED.has(typeOf(failure)) ? KafkaUnsettled : StartFault;
          throw new Fault(`Kafka at ${this.address.brokers.join(',')} cannot be used: ${reasonOf(failure)}`);
        }
      }
      const [first, ...others] = this.seeds;
      this.seeds = first === undefined ? [] : [...others, first];
      if (others.length === 0) await pause(this.clock, AGAIN_MILLIS);
    }
  }

  private async connected(admin: Admin): Promise<void> {
    const connecting = admin.connect();
    try {
      await within(this.clock, CONNECTED_WITHIN_MILLIS / this.seeds.length, connecting);
    } catch (error) {
      // It may still connect later.
      connecting.then(() => admin.disconnect()).catch(() => undefined);
      throw error;
    }
  }

  /** Passes one broker to kafkajs, which learns the others from it. With several, kafkajs would use any that replies. */
  private async withAdminAt<T>(seed: string, work: (admin: Admin, seed: string) => Promise<T>): Promise<T> {
    const { clientId, ssl, sasl } = this.address;
    const kafka = new Kafka({
      ...seedBrokers({ ...this.address, brokers: [seed] }),
      clientId,
      logLevel: logLevel.NOTHING,
      requestTimeout: ANSWER_MILLIS,
      retry: RETRY,
      ...(ssl === undefined ? {} : { ssl }),
      ...(sasl === undefined ? {} : { sasl }),
    });
    const admin = kafka.admin();
    try {
      await this.connected(admin);
      return await work(admin, seed);
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
  }
}

function ofAnother({ expected }: StrangeBroker): WrongBackend {
  return new WrongBackend(
    `the journals are in Kafka cluster ${expected}; KAFKA_BROKERS are those of another`,
  );
}

/** Asked before creating, because a user that may read a topic need not be allowed to create one. */
async function isKnown(admin: Admin, topic: string): Promise<boolean> {
  try {
    await withRight('DESCRIBE', topic, admin.fetchTopicMetadata({ topics: [topic] }));
    return true;
  } catch (error) {
    if (typeOf(error) === UNKNOWN) return false;
    throw error;
  }
}

/** Counts a missing right as success: a user that may not create topics relies on what the brokers know. */
function unlessNotAllowed(error: unknown): true {
  if (isNotAllowed(error)) return true;
  throw error;
}

/** The brokers' default number of copies; 1 if the user may not ask for it. */
async function usualReplicas(admin: Admin, nodeId: number | undefined): Promise<number> {
  if (nodeId === undefined) return 1;
  const name = String(nodeId);
  const type = kafkajs.ConfigResourceTypes.BROKER;
  const asked = { includeSynonyms: false, resources: [{ type, name, configNames: [DEFAULT_REPLICAS] }] };
  const { resources } = await admin.describeConfigs(asked).catch((error: unknown) => {
    if (isNotAllowed(error)) return { resources: [] };
    throw error;
  });
  return Number(resources[0]?.configEntries[0]?.configValue ?? 1);
}

/** kafkajs puts the brokers' replies below the error, topic by topic. */
function reasonOf(error: unknown): string {
  const errors = error instanceof Error && 'errors' in error ? error.errors : undefined;
  const reasons = Array.isArray(errors) ? errors : [error];
  return reasons.map((reason) => messageOf(inPlainWords(reason))).join('; ');
}
