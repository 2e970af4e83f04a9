/** A message of a topic's only partition. */
export interface LogMessage {
  readonly offset: number;
  readonly value: Buffer;
  /** What stands beside the value, in a header. */
  readonly seal?: Buffer | undefined;
}

/** By the place of their message among those that are sent together. */
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

/** There is no such topic, as far as the broker that was asked knows. */
export class TopicMissing extends Error {
  override readonly name = 'TopicMissing';
}

/**
 * Somebody has deleted the topic's first messages. What stands behind them is no journal, so whoever reads there, or has just written,
 * hears of this instead.
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
 * The leader has messages there, by its own word, and what it gives of them time after time is nothing that anybody could read: its log is
 * not what was written. Not thrown for a broker that is slow, away, or has not heard of them yet.
 */
export class MessagesDamaged extends Error {
  override readonly name = 'MessagesDamaged';
}

/** One topic with one partition, as a client library gives it. Nothing here retries a send. */
export interface TopicLog {
  /**
   * One batch, whole or not at all; resolves with the offset of its first message when all in-sync replicas have it. Rejects with
   * `MessagesDeleted` when they have it behind a beginning that is gone.
   */
  append(values: readonly Buffer[], withinMillis: number, seals?: MacsByIndex): Promise<number>;
  /** Behind the last message that is durable. Where leaders change it may for a moment be less than it was. */
  end(): Promise<number>;
  /** Durable messages from `offset` on, without gaps, about `maxBytes` of them and at least one; none only at the end. */
  fetch(offset: number, maxBytes: number): Promise<readonly LogMessage[]>;
  close(): Promise<void>;
}
