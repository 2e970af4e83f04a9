import type { MacsByIndex } from '../topic-log.js';
import { writeBatch } from './write-batch.js';

const NO_TRANSACTION = -1;
const ALL_IN_SYNC = -1;
const ONE = 1;
/** The only partition of a topic. */
const PARTITION = 0;
const INT16 = 2;
const INT32 = 4;

export interface Produced {
  readonly topic: string;
  readonly values: readonly Buffer[];
  readonly seals: MacsByIndex;
  readonly withinMillis: number;
  /** In milliseconds since 1970. The journal does not read it. */
  readonly timestamp: bigint;
}

/** The body of a request to produce, in versions 3 to 8: one batch for one topic. */
export function writeProduceRequest({ topic, values, seals, withinMillis, timestamp }: Produced): Buffer {
  // Without messages there is no batch: that only checks whether the user may write.
  const batch = values.length === 0 ? Buffer.alloc(0) : writeBatch(values, timestamp, seals);
  const name = Buffer.from(topic);
  const head = Buffer.alloc(3 * INT16 + 5 * INT32 + name.length);
  let at = head.writeInt16BE(NO_TRANSACTION, 0);
  at = head.writeInt16BE(ALL_IN_SYNC, at);
  at = head.writeInt32BE(withinMillis, at);
  at = head.writeInt32BE(ONE, at);
  at = head.writeInt16BE(name.length, at);
  at += name.copy(head, at);
  at = head.writeInt32BE(ONE, at);
  at = head.writeInt32BE(PARTITION, at);
  head.writeInt32BE(batch.length, at);
  return Buffer.concat([head, batch]);
}
