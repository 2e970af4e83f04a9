import type { KafkaBackend } from '../backend/journal-backend.js';
import type { BareReader, Journal, JournalHead, JournalReader } from '../journal.js';
import type { TopicSurvey } from '../kafka/topic-survey.js';
import type { Surplus } from '../restored/restored-check.js';
import type { JournalReceiver } from './journal-receiver.js';

export type StoreKind = 'postgres' | 'kafka';

/** The storage backend of a family's journals, as one process has it. */
export interface JournalStore {
  readonly kind: StoreKind;
  /** Reads nothing of a shard whose journal is not the one that the database knows. */
  readonly reader: JournalReader;
  /** Reads unchecked, for tools that examine a journal. */
  readonly bareReader: BareReader;
  /**
   * For writers. The first that opens a shard settles that the journals are here. `onFault` receives a checkpoint that could not be written.
   */
  journalOf(opener: string, onFault?: (error: unknown) => void): Journal;
  /** For a mover, which holds the journals alone: opens a shard so that no other writer goes on here. */
  journalOfMover(opener: string): Journal;
  /** Makes what every shard's journal will be kept in, and settles the backend. Refuses what would not keep a journal, or has lost it. */
  prepare(): Promise<void>;
  /** Refuses what has lost its journal, or would not keep one. Makes nothing, and settles nothing. */
  checkFit(): Promise<void>;
  /** Refuses what has lost a journal that was seen here, by its beginning or its end, and writes nothing. */
  refuseLost(): Promise<void>;
  /** The shard's journal was found to be here, up to this record. */
  remember(shard: number, head: Pick<JournalHead, 'sequence' | 'hash'>): Promise<void>;
  /** What the database remembers of this backend; undefined for the database itself. */
  backend(): Promise<KafkaBackend | undefined>;
  /** Receives journals that are moved here. */
  receiver(): JournalReceiver;
  /** How far each shard goes beyond what a restored database knows of it; empty for any other database. Refuses where it lacks that. */
  surplus(): Promise<readonly Surplus[]>;
  /** What stands beside the records of a shard; undefined where nothing can. */
  survey(shard: number): Promise<TopicSurvey | undefined>;
  close(): Promise<void>;
}
