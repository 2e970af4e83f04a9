import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { JournalEntry } from '../journal.js';
import type { JournalFamily } from '../journal-id.js';
import type { MacsByIndex } from '../kafka/topic-log.js';

/** No other key is derived with this purpose: the MAC of a snapshot is not valid for a record. */
const PURPOSE = 'sotto journal seal';

/** What a MAC covers: a record's position and its hash, which covers its content and every record before it. */
export type CoveredRecord = Pick<JournalEntry, 'shard' | 'epoch' | 'sequence' | 'hash'>;

/**
 * MACs of records, which need the key. An append is whole or missing, so only its last record has one: with the hash chain it
 * covers everything before.
 */
export class RecordMacs {
  private readonly first: KeyObject;
  private readonly all: readonly KeyObject[];

  /** The first key is for new records; MACs of any key are believed. */
  constructor(
    private readonly family: JournalFamily,
    [first, ...former]: readonly [Buffer, ...Buffer[]],
  ) {
    this.first = sealingKey(first, PURPOSE);
    this.all = [this.first, ...former.map((secret) => sealingKey(secret, PURPOSE))];
  }

  sealOf(record: CoveredRecord): Buffer {
    return this.sealUnder(this.first, record);
  }

  isGood(record: CoveredRecord, seal: Buffer): boolean {
    return isOneOf(
      this.all.map((key) => this.sealUnder(key, record)),
      seal,
    );
  }

  /** No field has a space, so no two records look alike. */
  private sealUnder(key: KeyObject, { shard, epoch, sequence, hash }: CoveredRecord): Buffer {
    const covered = [this.family, shard, epoch, sequence, hash].join(' ');
    return createHmac('sha256', key).update(covered).digest();
  }
}

/** The MAC of one append, by the index of its message; none without keys. */
export function macOfAppend(seals: RecordMacs | undefined, records: readonly JournalEntry[]): MacsByIndex {
  const last = records.at(-1);
  if (seals === undefined || last === undefined) return new Map();
  return new Map([[records.length - 1, seals.sealOf(last)]]);
}

/** The MACs that the records have, by index. */
export function macsOf(entries: readonly JournalEntry[]): MacsByIndex {
  return new Map(entries.flatMap(({ seal }, index) => (seal === undefined ? [] : [[index, seal] as const])));
}

const KEY_BYTES = 32;

/** Derives another key for each purpose from the same secret, so that no use can produce what another would. */
export function sealingKey(secret: Buffer, purpose: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), purpose, KEY_BYTES)));
}

/** Compares in constant time. */
export function isOneOf(seals: readonly Buffer[], given: Buffer): boolean {
  return seals.some((seal) => seal.length === given.length && timingSafeEqual(seal, given));
}
