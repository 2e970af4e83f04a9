import { hash } from 'node:crypto';
import type { EpochIncarnation, EpochPayload, JournalEntry, JournalHead } from './journal.js';
import type { JournalFamily } from './journal-id.js';

const HEADS_BEFORE_FIRST: Readonly<Record<JournalFamily, JournalHead>> = {
  auction: emptyHead('auction'),
  execution: emptyHead('execution'),
  data: emptyHead('data'),
};

function emptyHead(family: JournalFamily): JournalHead {
  return { epoch: 0, sequence: 0, hash: hash('sha256', `sotto journal ${family}`, 'hex') };
}

/** The head of a journal before its first record. Its hash is the genesis hash: no record of one family follows one of another. */
export function beforeFirst(family: JournalFamily): JournalHead {
  return HEADS_BEFORE_FIRST[family];
}

/** A longer record gets its own buffer, so that one large record does not occupy memory for ever. */
const SCRATCH_BYTES = 65_536;
const COMMA = 0x2c;
/** Records are assembled here to be hashed. Temporary strings would be most of the garbage. */
const scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);

type Fields = Omit<JournalEntry, 'hash' | 'payload'>;

/**
 * Lower-case hex of the SHA-256 over these fields as netstrings (byte length, colon, UTF-8 bytes, comma), in this order:
 * shard, epoch, sequence, kind, previous hash, payload. The lengths keep two different records from looking alike.
 */
export function recordHash(record: Omit<JournalEntry, 'hash'>): string {
  const { payload } = record;
  const bytes = Buffer.byteLength(payload);
  const head = headOf(record, bytes);
  const buffer = bufferFor(head.length + bytes + 1);
  buffer.write(payload, head.length, 'utf8');
  return hashIn(buffer, head, bytes);
}

/** The same for a payload in bytes, without decoding and encoding it again. */
export function hashOfBytes(record: Fields, payload: Uint8Array): string {
  const head = headOf(record, payload.length);
  const buffer = bufferFor(head.length + payload.length + 1);
  buffer.set(payload, head.length);
  return hashIn(buffer, head, payload.length);
}

function bufferFor(length: number): Buffer {
  return length > SCRATCH_BYTES ? Buffer.allocUnsafe(length) : scratch;
}

/** The payload is already in the buffer, after the room for the head. */
function hashIn(buffer: Buffer, head: string, payloadBytes: number): string {
  const end = head.length + payloadBytes;
  buffer.write(head, 'latin1');
  buffer[end] = COMMA;
  return hash('sha256', buffer.subarray(0, end + 1), 'hex');
}

function headOf({ shard, epoch, sequence, kind, previousHash }: Fields, payloadBytes: number): string {
  const position = beginningOf(shard, epoch) + asciiField(String(sequence));
  return `${position}${asciiField(kind)}${asciiField(previousHash)}${payloadBytes}:`;
}

/** Kept between records: those of one epoch begin alike, and are consecutive. */
let beginning = { shard: -1, epoch: -1, text: '' };

function beginningOf(shard: number, epoch: number): string {
  if (beginning.shard !== shard || beginning.epoch !== epoch) {
    beginning = { shard, epoch, text: asciiField(String(shard)) + asciiField(String(epoch)) };
  }
  return beginning.text;
}

function asciiField(text: string): string {
  return `${text.length}:${text},`;
}

/** The next event after `before`. */
export function linkEvent(shard: number, before: JournalHead, payload: string): JournalEntry {
  return link({ shard, epoch: before.epoch, kind: 'event', payload }, before);
}

/** The record by which `opener` starts `epoch`. */
export function linkEpoch(
  shard: number,
  before: JournalHead,
  epoch: number,
  opener: string,
  incarnation: EpochIncarnation = {},
): JournalEntry {
  const payload: EpochPayload = { epoch, opener, ...incarnation };
  return link({ shard, epoch, kind: 'epoch', payload: JSON.stringify(payload) }, before);
}

function link(
  content: Pick<JournalEntry, 'shard' | 'epoch' | 'kind' | 'payload'>,
  before: JournalHead,
): JournalEntry {
  const { shard, epoch, kind, payload } = content;
  const record = { shard, epoch, sequence: before.sequence + 1, kind, payload, previousHash: before.hash };
  return { ...record, hash: recordHash(record) };
}

export function headAt({ epoch, sequence, hash }: JournalHead): JournalHead {
  return { epoch, sequence, hash };
}
