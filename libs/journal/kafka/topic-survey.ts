import type { JournalId } from '../journal-id.js';
import { ShardLog } from './shard-log.js';
import type { LogMessage, TopicLog } from './topic-log.js';

/** What a topic holds besides the journal. */
export interface TopicSurvey {
  readonly messages: number;
  readonly records: number;
  /** Messages from ended epochs, and take-overs that came too late. */
  readonly late: number;
  /** Messages that their own writer sent twice. */
  readonly doubled: number;
}

const PAGE = 4_096;

/** Reads a whole topic, from its first message to its last. */
export async function surveyTopic(journal: JournalId, log: TopicLog): Promise<TopicSurvey> {
  const reading = new ShardLog(journal, log);
  const end = await reading.end();
  const counts = { records: 0, late: 0, doubled: 0 };
  let ahead: readonly LogMessage[] = [];
  let position = reading.start;
  while (position.next < end) {
    const run = await reading.run({ from: position, end, limit: PAGE, ahead });
    if (run.damage !== undefined) throw run.damage;
    counts.records += run.entries.length;
    counts.late += run.late;
    counts.doubled += run.doubled;
    ({ position, ahead } = run);
  }
  return { messages: position.next, ...counts };
}
