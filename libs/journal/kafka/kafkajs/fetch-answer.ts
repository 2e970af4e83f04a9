import errors from 'kafkajs/src/protocol/error.js';
import { readBatches, type Batches } from './record-batches.js';

export interface FetchAnswer extends Batches {
  /** How long the broker wants no requests; kafkajs obeys. */
  readonly clientSideThrottleTime: number;
  /** The offset after the last durable message at the time of the reply. */
  readonly end: number;
  /** Offset of the first message that the topic still has. */
  readonly start: number;
}

const INT16 = 2;
const INT32 = 4;
const INT64 = 8;
const ABORTED_TRANSACTION = 2 * INT64;
/** A leader may name a nearer broker to read from, if the cluster is set so. */
const NO_OTHER = -1;

/** Parses version 11 of the fetch reply for one partition; leaves out messages before `offset`. */
export function readFetchAnswer(payload: Buffer, offset: number): FetchAnswer {
  const clientSideThrottleTime = payload.readInt32BE(0);
  check(payload.readInt16BE(INT32));
  let at = INT32 + INT16 + INT32;
  if (payload.readInt32BE(at) !== 1) throw new Error('an answer to a fetch without its topic');
  at += INT32;
  at += INT16 + payload.readInt16BE(at);
  if (payload.readInt32BE(at) !== 1) throw new Error('an answer to a fetch without its partition');
  at += INT32 + INT32;
  check(payload.readInt16BE(at));
  const end = Number(payload.readBigInt64BE(at + INT16));
  const start = Number(payload.readBigInt64BE(at + INT16 + 2 * INT64));
  at += INT16 + 3 * INT64;
  at += INT32 + Math.max(0, payload.readInt32BE(at)) * ABORTED_TRANSACTION;
  // Such a reply has no messages, which must not be taken for a log that has lost some.
  if (payload.readInt32BE(at) !== NO_OTHER) throw new Error('the leader sends its readers to another broker');
  at += INT32;
  const size = Math.max(0, payload.readInt32BE(at));
  at += INT32;
  return { clientSideThrottleTime, end, start, ...readBatches(payload.subarray(at, at + size), offset) };
}

function check(code: number): void {
  if (code !== 0) throw errors.createErrorFromCode(code);
}
