import { StartFault } from '#libs/platform/process/start-fault.js';

/** A message of a topic's only partition. */
export interface LogMessage {
  readonly offset: number;
  readonly value: Buffer;
  /** The MAC, from a header of the message. */
  readonly seal?: Buffer | undefined;
}

/** By the index of the message in its batch. */
export type MacsByIndex = ReadonlyMap<number, Buffer>;

/** The reply to a send is missing or inconclusive. The send may yet arrive. */
export class SendLost extends Error {
  override readonly name = 'SendLost';
}

/** Nothing of a send was written, and nothing will be. */
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

/** Brokers reply, but the needed broker is gone or a topic has no leader. This passes once a new leader is elected. */
export class KafkaUnsettled extends StartFault {}

/** There is no such topic, as far as the broker knows. */
export class TopicMissing extends Error {
  override readonly name = 'TopicMissing';
}

/** The topic's first messages were deleted. The rest is no journal, so reads and appends reject with this. */
export class MessagesDeleted extends Error {
  override readonly name = 'MessagesDeleted';

  constructor(
    /** Offset of the first message that is left. */
    start: number,
  ) {
    super(`its first ${start} messages are gone: its topic begins at offset ${start}`);
  }
}

/**
 * The leader claims messages there, and several times in a row returned none that can be read: its log is damaged. Not thrown for
 * a broker that is slow, unreachable, or does not know the messages yet.
 */
export class MessagesDamaged extends Error {
  override readonly name = 'MessagesDamaged';
}

/** One topic with one partition, from a client library. Retries no send. */
export interface TopicLog {
  /**
   * One batch, whole or not at all; resolves with the offset of its first message when all in-sync replicas have it. Rejects with
   * `MessagesDeleted` when the topic's first messages are gone.
   */
  append(values: readonly Buffer[], withinMillis: number, seals?: MacsByIndex): Promise<number>;
  /** The offset after the last durable message. It may briefly go back after a change of leaders. */
  end(): Promise<number>;
  /** Durable messages from `offset` on, without gaps, about `maxBytes` of them and at least one; none only at the end. */
  fetch(offset: number, maxBytes: number): Promise<readonly LogMessage[]>;
  close(): Promise<void>;
}
