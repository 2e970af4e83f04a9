import { nextTurn } from '#libs/platform/time/clock.js';

/**
 * `epoch`: a writer took the shard over; every epoch begins with this record. `event`: what that writer was given.
 * Both occupy a sequence and both are shown to readers.
 */
export type EntryKind = 'epoch' | 'event';

export interface JournalEntry {
  readonly shard: number;
  readonly epoch: number;
  /** Dense from 1 within the shard. */
  readonly sequence: number;
  readonly kind: EntryKind;
  /** JSON text, opaque to the journal and kept as it came. That of an epoch record is an `EpochPayload`. */
  readonly payload: string;
  /** Hash of the record before, or the genesis hash of the family. */
  readonly previousHash: string;
  /** Covers all of the above: see `recordHash`. */
  readonly hash: string;
  /** The MAC on the last record of an append: see `RecordMacs`. Readers do not check it. */
  readonly seal?: Buffer;
}

export interface EpochPayload extends EpochIncarnation {
  readonly epoch: number;
  readonly opener: string;
}

/** Names the database of the writer. Journals in PostgreSQL do not have it. */
export interface EpochIncarnation {
  /** `journal.life` of that database. */
  readonly life?: string;
  /** That of the epoch before, where it was another: that database was given up for this one. */
  readonly follows?: string;
}

/** The last durable record of a shard. */
export interface JournalHead {
  readonly epoch: number;
  readonly sequence: number;
  readonly hash: string;
}

/** The records of one append: `firstSequence` and on, one hash each. */
export interface Appended {
  readonly firstSequence: number;
  readonly hashes: readonly string[];
}

export type JournalHealth = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** The only writer of a shard until another opens it. */
export interface JournalWriter {
  readonly shard: number;
  readonly head: JournalHead;
  /**
   * Resolves when all payloads are durable, one after another in the order given, and no other writer has taken the shard;
   * only then may anything be made known. Calls may overlap; each is written whole or not at all, in the order of the calls.
   * Rejects with a JournalRefused (only this call failed, nothing was written) or with a JournalFailure (this writer is dead
   * and every later call rejects too).
   */
  append(payloads: readonly string[]): Promise<Appended>;
  /**
   * Resolves when the shard was this writer's at some moment after the call. Rejects with a JournalFailure where it was not, which ends
   * the writer, and where that cannot be known, which does not.
   */
  confirm(): Promise<void>;
  /** From memory, without asking the store. */
  health(): JournalHealth;
  /** Writes what is queued, takes nothing more, and lets the connection go. */
  close(): Promise<void>;
}

export interface Journal {
  /**
   * Becomes the only writer of the shard: the writer before can append nothing from here on. Waits for an append that is under way.
   * `head` of the new writer is the epoch record just written, after everything that was ever acknowledged.
   */
  open(shard: number): Promise<JournalWriter>;
}

/** A record as it stands in the store. Nothing of it is checked; fields that cannot be read are missing. */
export interface UncheckedRecord extends Partial<
  Pick<JournalEntry, 'sequence' | 'epoch' | 'hash' | 'payload' | 'seal'>
> {
  readonly kind?: string;
  /** In Kafka. */
  readonly offset?: number;
}

/** Checks everything against the hash chain; throws a JournalCorrupt where it does not fit. */
export interface JournalReader {
  /** Entries from `fromSequence` on, in order: `limit` of them, or fewer because the shard goes no further. */
  read(shard: number, fromSequence: number, limit: number): Promise<JournalEntry[]>;
  /** One entry for each sequence asked for, in the order asked; all of them must exist. */
  entries(shard: number, sequences: readonly number[]): Promise<JournalEntry[]>;
  /**
   * The last sequence of every shard that was ever opened, or of those that are named, even if others cannot be read. Cheap enough to
   * be polled.
   */
  heads(shards?: readonly number[]): Promise<Map<number, number>>;
}

/** For tools that examine a journal. */
export interface BareReader extends JournalReader {
  /** At most `limit` records from the damage at `from` on; none where there is no damage. */
  unchecked(shard: number, from: number, limit: number): Promise<UncheckedRecord[]>;
}

/** Page after page. Reads the next while the last is processed. */
export async function* readAhead(
  read: (fromSequence: number) => Promise<JournalEntry[]>,
  range: { readonly from: number; readonly to: number },
): AsyncGenerator<readonly JournalEntry[]> {
  if (range.from > range.to) return;
  let next = read(range.from);
  for (let from = range.from; from <= range.to;) {
    const page = await next;
    from += page.length;
    if (from <= range.to) {
      next = read(from);
      // It may fail before it is awaited.
      next.catch(() => undefined);
      // A driver sends its query when the event loop comes round, which processing of the page would delay.
      await nextTurn();
    }
    yield page;
  }
}
