import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { messageOf } from '../../journal-errors.js';
import {
  type LogMessage,
  type MacsByIndex,
  MessagesDeleted,
  SendLost,
  SendRefused,
  type TopicLog,
  TopicMissing,
} from '../topic-log.js';
import { type BrokerLink, typeOf, within } from './broker-link.js';
import type { FetchAnswer } from './fetch-answer.js';
import type { KafkaAddress } from './kafka-address.js';
import { KafkaCluster } from './kafka-cluster.js';
import { LeaderFinder } from './leader-finder.js';
import { type Look, RetryingFetch } from './retrying-fetch.js';
import type { Produced } from './produce-request.js';
import {
  appending,
  EARLIEST,
  LATEST,
  messagesFrom,
  offsetAt,
  type Question,
  type Written,
} from './questions.js';
import { isNotAllowed, namingRight, type Right } from './rights.js';

const READ_MILLIS = 5_000;
const NO_SEALS: MacsByIndex = new Map();

/** With these errors a broker has not touched its log, and a retry will not help. */
const FINAL_REFUSALS: ReadonlySet<string> = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'CORRUPT_MESSAGE',
  'INVALID_RECORD',
  'INVALID_TIMESTAMP',
  'INVALID_TOPIC_EXCEPTION',
  'INVALID_REQUIRED_ACKS',
  'UNSUPPORTED_FOR_MESSAGE_FORMAT',
  'UNSUPPORTED_VERSION',
  'TOPIC_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
]);
/**
 * With these errors a broker has not touched its log. "Not leader" is not among them: a leader that is replaced while it waits
 * for its followers replies the same, and they may have the batch.
 */
const REFUSALS: ReadonlySet<string> = new Set(['NOT_ENOUGH_REPLICAS', ...FINAL_REFUSALS]);
const NO_TOPIC = 'UNKNOWN_TOPIC_OR_PARTITION';
const OUT_OF_RANGE = 'OFFSET_OUT_OF_RANGE';
const CORRUPT = 'CORRUPT_MESSAGE';
/** Errors about the log itself: the right broker was asked. */
const ANSWERS: ReadonlySet<string> = new Set([OUT_OF_RANGE, CORRUPT]);
/** The errors of a broker with a damaged log, and of many other causes. */
const UNKNOWN_ERROR = 'UNKNOWN';
const LEAST_BYTES = 1;
/** How many offsets before a message a fetch may begin, to get the whole batch. */
const MOST_AHEAD = 1_024;
const AHEAD_FACTOR = 4;

function unlessDoubtful(error: unknown): Pick<FetchAnswer, 'messages'> {
  if (![CORRUPT, UNKNOWN_ERROR].includes(typeOf(error))) throw error;
  return { messages: [] };
}

function onlyNotAllowed(error: unknown): void {
  if (isNotAllowed(error)) throw error;
}

/** One topic of a cluster, with its own connection to the topic's leader. */
export class KafkajsLog implements TopicLog {
  private readonly finder: LeaderFinder;
  private readonly retryingFetch: RetryingFetch;
  private readonly readMillis: number;
  private leading: Promise<BrokerLink> | undefined;
  private current: BrokerLink | undefined;
  private isClosed = false;

  constructor(
    address: KafkaAddress,
    private readonly topic: string,
    private readonly clock: Clock,
    cluster = new KafkaCluster(),
  ) {
    this.finder = new LeaderFinder(address, topic, clock, cluster);
    this.retryingFetch = new RetryingFetch(clock);
    this.readMillis = address.readWithinMillis ?? READ_MILLIS;
  }

  async append(
    values: readonly Buffer[],
    withinMillis: number,
    seals: MacsByIndex = NO_SEALS,
  ): Promise<number> {
    const leader = await this.leader(withinMillis).catch((error: unknown) => {
      throw new SendRefused(messageOf(error), false, { cause: error });
    });
    const timestamp = this.clock.epochNanos() / NANOS_PER_MILLI;
    const sent = { topic: this.topic, values, seals, withinMillis, timestamp };
    const { base, start } = await this.send(leader, sent);
    if (start > 0) throw new MessagesDeleted(start);
    return base;
  }

  /**
   * Rejects if the user may not write. Nothing is written: a broker checks the right first, and then refuses an empty append. The
   * first real append meets any other error.
   */
  async mayWrite(): Promise<void> {
    const asked = {
      topic: this.topic,
      values: [],
      seals: NO_SEALS,
      withinMillis: this.readMillis,
      timestamp: 0n,
    };
    await this.once(appending(asked)).catch(onlyNotAllowed);
  }

  /** Rejects if the user may not read. Ignores other errors, like `mayWrite`. */
  async mayRead(): Promise<void> {
    await this.once(messagesFrom(this.topic, 0, LEAST_BYTES)).catch(onlyNotAllowed);
  }

  private async send(leader: BrokerLink, sent: Produced): Promise<Written> {
    try {
      return await leader.ask(appending(sent), sent.withinMillis);
    } catch (error) {
      const type = typeOf(error);
      if (!REFUSALS.has(type)) {
        this.leave(leader);
        throw new SendLost(messageOf(error), { cause: error });
      }
      const reason = isNotAllowed(error) ? messageOf(namingRight('WRITE', this.topic, error)) : type;
      throw new SendRefused(reason, FINAL_REFUSALS.has(type), { cause: error });
    }
  }

  end(): Promise<number> {
    return this.ask(offsetAt(this.topic, LATEST), 'DESCRIBE');
  }

  fetch(offset: number, maxBytes: number): Promise<readonly LogMessage[]> {
    return this.retryingFetch.messages(offset, () => this.fetchOnce(offset, maxBytes));
  }

  private async fetchOnce(offset: number, maxBytes: number): Promise<Look> {
    try {
      const { messages, start, end, doubt } = await this.ask(
        messagesFrom(this.topic, offset, maxBytes),
        'READ',
      );
      if (start > 0) throw new MessagesDeleted(start);
      if (messages.length === 0 && doubt !== undefined) return { doubt };
      if (messages.length > 0 || end <= offset) return { messages };
      return { doubt: `the leader has messages up to ${end}, but returns no whole batch from there on` };
    } catch (error) {
      const type = typeOf(error);
      if (type === OUT_OF_RANGE) return { messages: await this.outOfRange() };
      if (type === CORRUPT) {
        return await this.fromBefore(offset, maxBytes, 'the leader reports a corrupt log');
      }
      if (type === UNKNOWN_ERROR && (await this.returnsFirst(offset))) {
        const doubt = 'the leader fails for these messages, but returns others';
        return await this.fromBefore(offset, maxBytes, doubt);
      }
      throw error;
    }
  }

  /**
   * To find a message inside a batch a broker reads the head of the next batch, and fails if that is damaged. A fetch from further
   * ahead returns whole batches.
   */
  private async fromBefore(offset: number, maxBytes: number, doubt: string): Promise<Look> {
    for (let ahead = 1; ahead <= Math.min(offset, MOST_AHEAD); ahead *= AHEAD_FACTOR) {
      const { messages } = await this.ask(messagesFrom(this.topic, offset - ahead, maxBytes), 'READ').catch(
        unlessDoubtful,
      );
      const wanted = messages.filter((message) => message.offset >= offset);
      if (wanted.length > 0) return { messages: wanted };
    }
    return { doubt };
  }

  /** Whether the broker is otherwise healthy: it returns the beginning of the topic. */
  private async returnsFirst(offset: number): Promise<boolean> {
    const start = await this.ask(offsetAt(this.topic, EARLIEST), 'DESCRIBE');
    if (start >= offset) return false;
    return (await this.ask(messagesFrom(this.topic, start, LEAST_BYTES), 'READ')).messages.length > 0;
  }

  private async outOfRange(): Promise<readonly LogMessage[]> {
    const start = await this.ask(offsetAt(this.topic, EARLIEST), 'DESCRIBE');
    if (start > 0) throw new MessagesDeleted(start);
    return [];
  }

  close(): Promise<void> {
    this.isClosed = true;
    this.current?.close();
    return Promise.resolve();
  }

  /** Reads may be retried: the leader may have moved, or the connection broken, during a quiet time. */
  private async ask<T>(question: Question<T>, right: Right): Promise<T> {
    try {
      return await this.once(question);
    } catch (error) {
      if (this.isClosed || ANSWERS.has(typeOf(error))) throw error;
    }
    try {
      return await this.once(question);
    } catch (error) {
      if (typeOf(error) === NO_TOPIC) throw new TopicMissing(`there is no topic ${this.topic}`);
      throw namingRight(right, this.topic, error);
    }
  }

  private async once<T>(question: Question<T>): Promise<T> {
    const leader = await this.leader(this.readMillis);
    try {
      return await leader.ask(question, this.readMillis);
    } catch (error) {
      if (!ANSWERS.has(typeOf(error))) this.leave(leader);
      throw error;
    }
  }

  private async leader(withinMillis: number): Promise<BrokerLink> {
    if (this.isClosed) throw new Error('the log is closed');
    this.leading ??= this.connect();
    return await within(this.clock, withinMillis, this.leading);
  }

  private async connect(): Promise<BrokerLink> {
    try {
      const leader = await this.finder.connect();
      if (this.isClosed) leader.close();
      this.current = leader;
      return leader;
    } catch (error) {
      this.leading = undefined;
      throw error;
    }
  }

  /** The leader has moved or is silent. A silent connection would stay silent, so it is closed. */
  private leave(leader: BrokerLink): void {
    leader.close();
    if (this.current !== leader) return;
    this.current = undefined;
    this.leading = undefined;
  }
}
