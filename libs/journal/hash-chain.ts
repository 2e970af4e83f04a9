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

/** The head of a journal before its first record. Its hash is the genesis hash: no record of one family follows that of another. */
export function beforeFirst(family: JournalFamily): JournalHead {
  return HEADS_BEFORE_FIRST[family];
}

/** Beyond this a record gets room of its own, so that one large one does not stay in memory for ever. */
const ROOM_BYTES = 65_536;
const COMMA = 0x2c;
/** Every record is written here to be hashed, one after the other: texts put together for that alone would be most of the garbage. */
const room = Buffer.allocUnsafeSlow(ROOM_BYTES);

type Fields = Omit<JournalEntry, 'hash' | 'payload'>;

/**
 * Lower-case hex of the SHA-256 over these fields as netstrings (byte length, colon, UTF-8 bytes, comma), in this order:
 * shard, epoch, sequence, kind, previous hash, payload. The lengths keep two different records from looking alike.
 */
export function recordHash(record: Omit<JournalEntry, 'hash'>): string {
  const { payload } = record;
  const bytes = Buffer.byteLength(payload);
  const head = headOf(record, bytes);
  const place = placeFor(head.length + bytes + 1);
  place.write(payload, head.length, 'utf8');
  return hashIn(place, head, bytes);
}

/** The same for a payload that is still the bytes in which its store gave it: nothing is made a text and encoded again. */
export function hashOfBytes(record: Fields, payload: Uint8Array): string {
  const head = headOf(record, payload.length);
  const place = placeFor(head.length + payload.length + 1);
  place.set(payload, head.length);
  return hashIn(place, head, payload.length);
}

function placeFor(length: number): Buffer {
  return length > ROOM_BYTES ? Buffer.allocUnsafe(length) : room;
}

/** Of a payload that stands in its place already. */
function hashIn(place: Buffer, head: string, payloadBytes: number): string {
  const end = head.length + payloadBytes;
  place.write(head, 'latin1');
  place[end] = COMMA;
  return hash('sha256', place.subarray(0, end + 1), 'hex');
}

function headOf({ shard, epoch, sequence, kind, previousHash }: Fields, payloadBytes: number): string {
  const places = beginningOf(shard, epoch) + asciiField(String(sequence));
  return `${places}${asciiField(kind)}${asciiField(previousHash)}${payloadBytes}:`;
}

/** The same for all records of an epoch, which follow one another. */
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

/** The event that comes next behind `before`. */
export function linkEvent(shard: number, before: JournalHead, payload: string): JournalEntry {
  return seal({ shard, epoch: before.epoch, kind: 'event', payload }, before);
}

/** The record by which `opener` makes `epoch` its own. */
export function linkEpoch(
  shard: number,
  before: JournalHead,
  epoch: number,
  opener: string,
  life: EpochIncarnation = {},
): JournalEntry {
  const payload: EpochPayload = { epoch, opener, ...life };
  return seal({ shard, epoch, kind: 'epoch', payload: JSON.stringify(payload) }, before);
}

function seal(
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
