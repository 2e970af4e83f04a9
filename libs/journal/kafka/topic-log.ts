import { StartFault } from '#libs/platform/process/start-fault.js';

/** A message of a topic's only partition. */
export interface LogMessage {
  readonly offset: number;
  readonly value: Buffer;
  /** What stands beside the value, in a header. */
  readonly seal?: Buffer | undefined;
}

/** By the index of the message in its batch. */
export type MacsByIndex = ReadonlyMap<number, Buffer>;

/** The answer to a send did not come, or leaves it open whether it arrived. It may yet arrive. */
export class SendLost extends Error {
  override readonly name = 'SendLost';
}

/** Nothing of a send was written, and nothing of it will be. */
export class SendRefused extends Error {
  override readonly name = 'SendRefused';

  constructor(
    message: string,
    /** The same send would be refused again. */
    readonly isFinal: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Brokers answer, but the one in question is gone, or a topic has no leader: it passes once they have elected another. */
export class KafkaUnsettled extends StartFault {}

/** There is no such topic, as far as the broker that was asked knows. */
export class TopicMissing extends Error {
  override readonly name = 'TopicMissing';
}

/**
 * The topic's first messages were deleted. What follows them is no journal, so reads and appends reject with this.
 */
export class MessagesDeleted extends Error {
  override readonly name = 'MessagesDeleted';

  constructor(
    /** Offset of the first that is left. */
    start: number,
  ) {
    super(`its first ${start} messages are gone: its topic begins at offset ${start}`);
  }
}

/**
 * The leader says that it has messages there, and what it gives of them cannot be read, several times in a row: its log is not what was
 * written. Not thrown for a broker that is slow, away, or has not heard of them yet.
 */
export class MessagesDamaged extends Error {
  override readonly name = 'MessagesDamaged';
}

/** One topic with one partition, as a client library gives it. Nothing here retries a send. */
export interface TopicLog {
  /**
   * One batch, whole or not at all; resolves with the offset of its first message when all in-sync replicas have it. Rejects with
   * `MessagesDeleted` when the topic's first messages are gone.
   */
  append(values: readonly Buffer[], withinMillis: number, seals?: MacsByIndex): Promise<number>;
  /** The offset after the last durable message. After a change of leaders it may be less for a moment. */
  end(): Promise<number>;
  /** Durable messages from `offset` on, without gaps, about `maxBytes` of them and at least one; none only at the end. */
  fetch(offset: number, maxBytes: number): Promise<readonly LogMessage[]>;
  close(): Promise<void>;
}
