import { nextTurn } from '#libs/platform/time/clock.js';

/**
 * `epoch`: a writer took the shard over; every epoch begins with this record. `event`: a payload of that writer.
 * Both occupy a sequence and both are shown to readers.
 */
export type EntryKind = 'epoch' | 'event';

export interface JournalEntry {
  readonly shard: number;
  readonly epoch: number;
  /** Dense from 1 within the shard. */
  readonly sequence: number;
  readonly kind: EntryKind;
  /** JSON text, opaque to the journal and kept unchanged. In an epoch record, an `EpochPayload`. */
  readonly payload: string;
  /** Hash of the record before, or the genesis hash of the family. */
  readonly previousHash: string;
  /** Covers all fields above: see `recordHash`. */
  readonly hash: string;
  /** The MAC on the last record of an append: see `RecordMacs`. Readers do not check it. */
  readonly seal?: Buffer;
}

export interface EpochPayload extends EpochIncarnation {
  readonly epoch: number;
  readonly opener: string;
}

/** Identifies the writer's database. Journals in PostgreSQL do not have it. */
export interface EpochIncarnation {
  /** `journal.life` of that database. */
  readonly life?: string;
  /** The incarnation of the epoch before, if it differs: this database has replaced that one. */
  readonly follows?: string;
}

/** The last durable record of a shard. */
export interface JournalHead {
  readonly epoch: number;
  readonly sequence: number;
  readonly hash: string;
}

/** The records of one append: consecutive from `firstSequence`, one hash each. */
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
   * Resolves when all payloads are durable, in the given order, and no other writer has the shard; only then may they be
   * shown. Calls may overlap; each is written whole or not at all. Rejects with a JournalRefused (only this call failed,
   * nothing was written) or a JournalFailure (this writer is dead and every later call rejects too).
   */
  append(payloads: readonly string[]): Promise<Appended>;
  /**
   * Resolves if this writer had the shard at some moment after the call. Rejects with a JournalFailure if it did not, which ends
   * the writer, or if that is unknown, which does not.
   */
  confirm(): Promise<void>;
  /** From memory, without asking the store. */
  health(): JournalHealth;
  /** Writes the queued calls, accepts no more, and closes the connection. */
  close(): Promise<void>;
}

export interface Journal {
  /**
   * Becomes the only writer of the shard: the previous writer can append nothing more. Waits for an append in flight. The new
   * writer's `head` is the epoch record just written, after everything that was ever acknowledged.
   */
  open(shard: number): Promise<JournalWriter>;
}

/** A stored record, unchecked; fields that cannot be read are missing. */
export interface UncheckedRecord extends Partial<
  Pick<JournalEntry, 'sequence' | 'epoch' | 'hash' | 'payload' | 'seal'>
> {
  readonly kind?: string;
  /** In Kafka. */
  readonly offset?: number;
}

/** Checks everything against the hash chain; throws a JournalCorrupt if it does not fit. */
export interface JournalReader {
  /** Entries from `fromSequence` on, in order: `limit` of them, or fewer at the end of the shard. */
  read(shard: number, fromSequence: number, limit: number): Promise<JournalEntry[]>;
  /** One entry for each sequence asked for, in the order asked; all of them must exist. */
  entries(shard: number, sequences: readonly number[]): Promise<JournalEntry[]>;
  /**
   * The last sequence of every opened shard, or of the named ones, even if others cannot be read. Cheap enough to be
   * polled.
   */
  heads(shards?: readonly number[]): Promise<Map<number, number>>;
}

/** For tools that examine a journal. */
export interface BareReader extends JournalReader {
  /** At most `limit` records from the damage at `from` on; none where there is no damage. */
  unchecked(shard: number, from: number, limit: number): Promise<UncheckedRecord[]>;
}

/** Iterates page by page. Reads the next page while the last is processed. */
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
      // A driver sends its query on the next turn of the event loop, which processing of the page would delay.
      await nextTurn();
    }
    yield page;
  }
}
