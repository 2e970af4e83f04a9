import type { KafkaBackend } from '../backend/journal-backend.js';
import type { BareReader, Journal, JournalHead, JournalReader } from '../journal.js';
import type { TopicSurvey } from '../kafka/topic-survey.js';
import type { Surplus } from '../restored/restored-check.js';
import type { JournalReceiver } from './journal-receiver.js';

export type StoreKind = 'postgres' | 'kafka';

/** Where the journals of a cluster are kept, as one process has it. */
export interface JournalStore {
  readonly kind: StoreKind;
  /** Shows nothing of a shard whose journal is not the one that the database knows. */
  readonly reader: JournalReader;
  /** Shows whatever stands there: for who judges it. */
  readonly bareReader: BareReader;
  /**
   * For writers. The first that opens a shard settles that the journals are here. `onFault` is told when the database could not be told
   * how far a journal has come.
   */
  journalOf(opener: string, onFault?: (error: unknown) => void): Journal;
  /** For who moves the journals, and holds them alone: opens a shard so that nobody else goes on writing it here. */
  journalOfMover(opener: string): Journal;
  /** Has what every shard's journal will be kept in, and settles that; refuses what would not keep it, and what has lost it. */
  prepare(): Promise<void>;
  /** Refuses what has lost its journal, or would not keep one. Makes nothing, and settles nothing. */
  checkPlaces(): Promise<void>;
  /** Refuses what has lost a journal that was seen here, by its beginning or its end, and writes nothing. */
  refuseLost(): Promise<void>;
  /** The shard's journal was found to be here, up to this record. */
  remember(shard: number, head: Pick<JournalHead, 'sequence' | 'hash'>): Promise<void>;
  /** What the database remembers of it; undefined for the database itself. */
  home(): Promise<KafkaBackend | undefined>;
  /** For moving journals here. */
  receiver(): JournalReceiver;
  /** How far each shard goes beyond what a restored database knows of it; empty for any other database. Refuses where it lacks that. */
  surplus(): Promise<readonly Surplus[]>;
  /** What stands beside the records of a shard; undefined where nothing can. */
  survey(shard: number): Promise<TopicSurvey | undefined>;
  close(): Promise<void>;
}
