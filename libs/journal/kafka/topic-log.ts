/** A message of a topic's only partition. */
export interface LogMessage {
  readonly offset: number;
  readonly value: Buffer;
}

/** The answer to a send did not come, or was not an answer: nobody knows whether it arrived. */
export class SendLost extends Error {
  override readonly name = 'SendLost';
}
/** The broker has refused a send: nothing of it was written. */
export class SendRefused extends Error {
  override readonly name = 'SendRefused';
}

/** One topic with one partition, as a client library gives it. Nothing here retries a send. */
export interface TopicLog {
  /** One batch, whole or not at all; resolves with the offset of its first message when all in-sync replicas have it. */
  append(values: readonly Buffer[], withinMillis: number): Promise<number>;
  /** Behind the last message that is durable; 0 for a topic that is empty or not there. */
  end(): Promise<number>;
  /** Durable messages from `offset` on: at least one if there is any, and about `maxBytes` at most. */
  fetch(offset: number, maxBytes: number): Promise<readonly LogMessage[]>;
  close(): Promise<void>;
}
