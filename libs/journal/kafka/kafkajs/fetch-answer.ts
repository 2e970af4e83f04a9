import errors from 'kafkajs/src/protocol/error.js';
import { readBatches, type Batches } from './record-batches.js';

export interface FetchAnswer extends Batches {
  /** kafkajs heeds it: how long the broker wants to be left alone. */
  readonly clientSideThrottleTime: number;
  /** Behind the last message that was durable when the broker looked for these. */
  readonly end: number;
  /** Offset of the first message that the topic still has. */
  readonly start: number;
}

const INT16 = 2;
const INT32 = 4;
const INT64 = 8;
const ABORTED_TRANSACTION = 2 * INT64;
/** Where a cluster has readers ask brokers that are near, the leader may name one. */
const NO_OTHER = -1;

/** Version 11 of the answer to a fetch of one partition; messages before `offset` that came along are left out. */
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
  // It gives nothing itself then, which must not be taken for a log that has lost something.
  if (payload.readInt32BE(at) !== NO_OTHER) throw new Error('the leader sends its readers to another broker');
  at += INT32;
  const size = Math.max(0, payload.readInt32BE(at));
  at += INT32;
  return { clientSideThrottleTime, end, start, ...readBatches(payload.subarray(at, at + size), offset) };
}

function check(code: number): void {
  if (code !== 0) throw errors.createErrorFromCode(code);
}
