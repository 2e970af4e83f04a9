import type { MacsByIndex } from '../topic-log.js';
import { crc32c } from './crc32c.js';

/** The offsets of the fields of a record batch of format 2, from its first byte. */
export const BATCH = {
  length: 8,
  magic: 16,
  checksum: 17,
  attributes: 21,
  lastOffsetDelta: 23,
  firstTimestamp: 27,
  maxTimestamp: 35,
  producerId: 43,
  producerEpoch: 51,
  firstSequence: 53,
  count: 57,
  records: 61,
};
/** Its length counts from here. */
export const PREFIX = BATCH.length + 4;
export const FORMAT = 2;
/** The name of the header with a message's MAC. */
export const SEAL_HEADER = Buffer.from('seal');

const NO_PRODUCER = -1n;
const MORE = 0x80;
const LAST_7_BITS = 0x7f;
/** Attributes, no timestamp of its own, and no key before the value; then the number of headers after it. */
const FIXED = 4;
const NO_HEADER = 0x00;
const ONE_HEADER = 0x02;
const NO_KEY = 0x01;

/**
 * One record batch, uncompressed and without a transaction. kafkajs's own encoder makes several objects and copies of each record,
 * and its checksum goes byte by byte: it took five times as long as the rest of an append.
 */
export function writeBatch(values: readonly Buffer[], timestamp: bigint, seals: MacsByIndex): Buffer {
  let size = BATCH.records;
  for (const [index, value] of values.entries()) {
    const length = lengthOf(index, value, seals.get(index));
    size += varintLength(length) + length;
  }
  const batch = Buffer.allocUnsafe(size);
  let at = BATCH.records;
  for (const [index, value] of values.entries()) {
    const seal = seals.get(index);
    at = writeVarint(batch, at, lengthOf(index, value, seal));
    batch[at] = 0;
    batch[at + 1] = 0;
    at = writeVarint(batch, at + 2, index);
    batch[at] = NO_KEY;
    at = writeVarint(batch, at + 1, value.length);
    at += value.copy(batch, at);
    batch[at] = seal === undefined ? NO_HEADER : ONE_HEADER;
    at += 1;
    if (seal !== undefined) at = writeHeader(batch, at, seal);
  }
  return withHead(batch, values.length, timestamp);
}

function withHead(batch: Buffer, count: number, timestamp: bigint): Buffer {
  batch.fill(0, 0, BATCH.records);
  batch.writeInt32BE(batch.length - PREFIX, BATCH.length);
  batch.writeInt8(FORMAT, BATCH.magic);
  batch.writeInt32BE(count - 1, BATCH.lastOffsetDelta);
  batch.writeBigInt64BE(timestamp, BATCH.firstTimestamp);
  batch.writeBigInt64BE(timestamp, BATCH.maxTimestamp);
  batch.writeBigInt64BE(NO_PRODUCER, BATCH.producerId);
  batch.writeInt32BE(count, BATCH.count);
  // Covers everything after itself, so it is written last.
  batch.writeUInt32BE(crc32c(batch.subarray(BATCH.attributes)), BATCH.checksum);
  return batch;
}

/** The length of a record after its own length field. */
function lengthOf(index: number, value: Buffer, seal: Buffer | undefined): number {
  const header = seal === undefined ? 0 : sizedLength(SEAL_HEADER) + sizedLength(seal);
  return FIXED + varintLength(index) + sizedLength(value) + header;
}

function sizedLength({ length }: Buffer): number {
  return varintLength(length) + length;
}

function writeHeader(batch: Buffer, start: number, seal: Buffer): number {
  let at = start;
  for (const part of [SEAL_HEADER, seal]) {
    at = writeVarint(batch, at, part.length);
    at += part.copy(batch, at);
  }
  return at;
}

/** Non-negative numbers, zigzag-encoded. */
function varintLength(value: number): number {
  let rest = value << 1;
  let length = 1;
  while (rest >= MORE) {
    rest >>>= 7;
    length += 1;
  }
  return length;
}

function writeVarint(bytes: Buffer, start: number, value: number): number {
  let rest = value << 1;
  let at = start;
  while (rest >= MORE) {
    bytes[at] = (rest & LAST_7_BITS) | MORE;
    rest >>>= 7;
    at += 1;
  }
  bytes[at] = rest;
  return at + 1;
}
