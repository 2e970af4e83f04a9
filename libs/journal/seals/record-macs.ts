import { createHmac, type KeyObject } from 'node:crypto';
import type { JournalEntry } from '../journal.js';
import type { JournalFamily } from '../journal-id.js';
import { isOneOf, sealingKey } from '../sealing-key.js';

/** Nothing else is ever derived with this word: a seal of a snapshot, say, is none of a record. */
const PURPOSE = 'sotto journal seal';

/** A record's place and its hash, which covers its content and every record before it. */
export type CoveredRecord = Pick<JournalEntry, 'shard' | 'epoch' | 'sequence' | 'hash'>;

/**
 * Seals of records, which nobody can make who has not the key. An append is whole or not there at all, so its last record alone has one:
 * with the hash chain it answers for everything before.
 */
export class RecordMacs {
  private readonly first: KeyObject;
  private readonly all: readonly KeyObject[];

  /** The first seals what is new; what any of them has sealed is believed. */
  constructor(
    private readonly family: JournalFamily,
    [first, ...former]: readonly [Buffer, ...Buffer[]],
  ) {
    this.first = sealingKey(first, PURPOSE);
    this.all = [this.first, ...former.map((secret) => sealingKey(secret, PURPOSE))];
  }

  sealOf(place: CoveredRecord): Buffer {
    return this.sealUnder(this.first, place);
  }

  isGood(place: CoveredRecord, seal: Buffer): boolean {
    return isOneOf(
      this.all.map((key) => this.sealUnder(key, place)),
      seal,
    );
  }

  /** No field has a space, so no two places look alike. */
  private sealUnder(key: KeyObject, { shard, epoch, sequence, hash }: CoveredRecord): Buffer {
    const covered = [this.family, shard, epoch, sequence, hash].join(' ');
    return createHmac('sha256', key).update(covered).digest();
  }
}
