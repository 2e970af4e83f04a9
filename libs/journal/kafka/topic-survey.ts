import { JournalCorrupt } from '../journal-errors.js';
import { LogCursor } from './log-cursor.js';
import { decodeRecord } from './record-format.js';
import { ShardLog } from './shard-log.js';
import type { TopicLog } from './topic-log.js';

/** What stands in a topic beside the journal. */
export interface TopicSurvey {
  readonly messages: number;
  readonly records: number;
  /** Of epochs that were over, and take-overs that came too late. */
  readonly late: number;
  /** Sent twice by their own writer. */
  readonly doubled: number;
}

const FETCH_BYTES = 4 * 1024 * 1024;
/** A second copy stands close behind the first; of older records nobody keeps the hashes. */
const REMEMBERED = 50_000;

/** Goes through a whole topic. A copy that is not the same as its original is damage: two writers had one epoch. */
export async function surveyTopic(shard: number, log: TopicLog): Promise<TopicSurvey> {
  const reading = new ShardLog(shard, log);
  const end = await reading.end();
  const cursor = new LogCursor(shard);
  const hashes = new Map<number, string>();
  const counts = { records: 0, late: 0, doubled: 0 };
  while (cursor.place.next < end) {
    for (const message of await reading.messages(cursor.place, { bytes: FETCH_BYTES, end })) {
      const { head } = cursor.place;
      const entry = cursor.take(message);
      if (entry !== undefined) {
        counts.records += 1;
        hashes.set(entry.sequence, entry.hash);
        hashes.delete(entry.sequence - REMEMBERED);
        continue;
      }
      const record = decodeRecord(message.value);
      const isCopy = record?.kind === 'event' && record.epoch === head.epoch;
      counts[isCopy ? 'doubled' : 'late'] += 1;
      const original = isCopy ? hashes.get(record.sequence) : undefined;
      if (original !== undefined && original !== record?.hash) {
        throw new JournalCorrupt(shard, record?.sequence ?? 0, `epoch ${head.epoch} has two records of it`);
      }
    }
  }
  return { messages: cursor.place.next, ...counts };
}
