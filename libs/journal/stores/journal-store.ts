import type { KafkaHome } from '../home/journal-home.js';
import type { Journal, JournalReader } from '../journal.js';
import type { TopicSurvey } from '../kafka/topic-survey.js';
import type { JournalReceiver } from './journal-receiver.js';

export type StoreKind = 'postgres' | 'kafka';

/** Where the journals of a cluster are kept, as one process has it. */
export interface JournalStore {
  readonly kind: StoreKind;
  readonly reader: JournalReader;
  /** For writers. The first that opens a shard settles that the journals are here. */
  journalOf(opener: string): Journal;
  /** For who moves the journals, and holds them alone: opens a shard so that nobody else goes on writing it here. */
  journalOfMover(opener: string): Journal;
  /** Settles that, and has what every shard's journal will be kept in; refuses what would not keep it. */
  prepare(): Promise<void>;
  /** What the database remembers of it; undefined for the database itself. */
  home(): Promise<KafkaHome | undefined>;
  /** For moving journals here. */
  receiver(): JournalReceiver;
  /** What stands beside the records of a shard; undefined where nothing can. */
  survey(shard: number): Promise<TopicSurvey | undefined>;
  close(): Promise<void>;
}
