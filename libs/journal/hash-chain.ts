import { hash } from 'node:crypto';
import type { EpochPayload, JournalEntry, JournalHead } from './journal.js';

export const GENESIS_HASH = '0'.repeat(64);

/** The head of a shard that nobody has opened yet. */
export const BEFORE_FIRST: JournalHead = { epoch: 0, sequence: 0, hash: GENESIS_HASH };

/**
 * Lower-case hex of the SHA-256 over these fields as netstrings (byte length, colon, UTF-8 bytes, comma), in this order:
 * shard, epoch, sequence, kind, previous hash, payload. The lengths keep two different records from looking alike.
 */
export function recordHash(record: Omit<JournalEntry, 'hash'>): string {
  const head =
    asciiField(String(record.shard)) +
    asciiField(String(record.epoch)) +
    asciiField(String(record.sequence)) +
    asciiField(record.kind) +
    asciiField(record.previousHash);
  return hash('sha256', `${head}${Buffer.byteLength(record.payload)}:${record.payload},`, 'hex');
}

function asciiField(text: string): string {
  return `${text.length}:${text},`;
}

/** The event that comes next behind `before`. */
export function sealEvent(shard: number, before: JournalHead, payload: string): JournalEntry {
  return seal({ shard, epoch: before.epoch, kind: 'event', payload }, before);
}

/** The record by which `opener` makes `epoch` its own. */
export function sealEpoch(shard: number, before: JournalHead, epoch: number, opener: string): JournalEntry {
  const payload: EpochPayload = { epoch, opener };
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
