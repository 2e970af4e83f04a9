import type { KafkaBackend } from '../backend/journal-backend.js';
import type { BareReader, Journal, JournalEntry, JournalHead, JournalReader } from '../journal.js';
import type { TopicSurvey } from '../kafka/topic-survey.js';
import type { Surplus } from '../restored/restored-check.js';
import { JournalCorrupt } from '../journal-errors.js';
import type { Pool } from 'pg';
import { ConfigFault } from '#libs/platform/process/start-fault.js';
import type { JournalFamily } from '../journal-id.js';
import type { RecordMacs } from '../seals/record-macs.js';
import type { Patience } from './until-settled.js';

export type StoreKind = 'postgres' | 'kafka';

/** The storage backend of a family's journals, as one process uses it. */
export interface JournalStore {
  readonly kind: StoreKind;
  /** Reads nothing of a shard whose journal is not the one that the database knows. */
  readonly reader: JournalReader;
  /** Reads unchecked, for tools that examine a journal. */
  readonly bareReader: BareReader;
  /**
   * For writers. The first one that opens a shard settles that the journals are here. `onFault` receives a failed checkpoint.
   */
  journalOf(opener: string, onFault?: (error: unknown) => void): Journal;
  /** For a mover, which has the lock on the journals. Opens a shard so that no other writer continues in this store. */
  journalOfMover(opener: string): Journal;
  /** Creates the store of every shard's journal, and settles the backend. Refuses a store that is unfit or has lost a journal. */
  prepare(): Promise<void>;
  /** Refuses a store that is unfit or has lost a journal. Creates and settles nothing. */
  checkFit(): Promise<void>;
  /** Refuses a store that has lost the beginning or the end of a journal that was seen in it. Writes nothing. */
  refuseLost(): Promise<void>;
  /** Records that the shard's journal was found here, up to this record. */
  remember(shard: number, head: Pick<JournalHead, 'sequence' | 'hash'>): Promise<void>;
  /** The settings of this backend as the database remembers them; undefined for PostgreSQL. */
  backend(): Promise<KafkaBackend | undefined>;
  /** Receives journals that are moved here. */
  receiver(): JournalReceiver;
  /** How far each shard extends beyond what a restored database knows of it; empty for any other database. Refuses if it lacks that. */
  surplus(): Promise<readonly Surplus[]>;
  /** Counts a shard's records and the messages that do not count; undefined where a store holds only records. */
  survey(shard: number): Promise<TopicSurvey | undefined>;
  close(): Promise<void>;
}

/**
 * Appends records of another copy of the journal unchanged, epochs and hashes included. Its caller holds the `JournalLock`
 * exclusively.
 */
export interface JournalReceiver {
  /** The last record of the shard, or the head before the first. */
  head(shard: number): Promise<JournalHead>;
  /** Appends consecutive entries after the head. Resolves once they are durable; on failure `head()` tells how many were written. */
  receive(shard: number, entries: readonly JournalEntry[]): Promise<void>;
  close(): Promise<void>;
}

/** Throws if the entry does not follow the head. */
export function checkFollows(shard: number, head: JournalHead, first: JournalEntry): void {
  if (first.sequence === head.sequence + 1 && first.previousHash === head.hash) return;
  throw new JournalCorrupt(shard, first.sequence, `it does not follow record ${head.sequence}`);
}

export interface StorePorts extends Patience {
  /** The family of these journals. */
  readonly family: JournalFamily;
  readonly databaseUrl: string;
  readonly pool: Pool;
  /** The name of this process for the brokers. */
  readonly instance: string;
  /** Needed to write. */
  readonly seals?: RecordMacs | undefined;
  /** All shards that the family may have. */
  readonly shards: readonly number[];
}

/** No owner continues after a record without a MAC, so no writer begins without keys. */
export function sealsOf({ seals }: StorePorts): RecordMacs {
  if (seals !== undefined) return seals;
  throw new ConfigFault([
    'ID_KEY is not set: writers seal their journals with a key that is derived from it',
  ]);
}
