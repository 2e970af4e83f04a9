import { pause, type Clock } from '#libs/platform/time/clock.js';
import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';
import type { JournalReader } from '../journal.js';
import type { LocatedHead } from '../kafka/log-cursor.js';
import type { KnownRecordState } from '../kafka/shard-log.js';
import type { Checkpoint } from './checkpoint-table.js';

/** After a topic's leader changes, brokers may briefly not know its latest records. */
const PATIENCE_MILLIS = 3_000;
const RETRY_MILLIS = 250;

/** A topic that lacks a record that this database has seen, or that holds records although this database has seen none. */
class JournalLost extends StartFault {
  constructor(reason: string) {
    super(reason, EXIT.damaged);
  }
}

export interface CheckedTopic {
  readonly shard: number;
  readonly topic: string;
  /** Reads the topic unchecked. */
  readonly reader: JournalReader;
  readonly clock: Clock;
}

/** Resolves if the topic still has the record. */
export async function checkRecord(checked: CheckedTopic, known: Checkpoint): Promise<void> {
  if (known.sequence === 0) return;
  const { shard, reader } = checked;
  await retryUntilKnown(checked, known, async () => {
    const [entry] = await reader.read(shard, known.sequence, 1);
    if (entry === undefined) return 'nothing';
    return entry.hash === known.hash ? 'known' : 'other';
  });
}

/** Resolves if the record is at the offset at which it was seen; reading begins after it. */
export async function checkOffset(
  checked: CheckedTopic & { readonly begin: (known: LocatedHead) => Promise<KnownRecordState> },
  known: LocatedHead,
): Promise<void> {
  await retryUntilKnown(checked, known, () => checked.begin(known));
}

async function retryUntilKnown(
  { shard, topic, reader, clock }: CheckedTopic,
  { sequence }: Checkpoint,
  find: () => Promise<KnownRecordState>,
): Promise<void> {
  for (let waited = 0; ; waited += RETRY_MILLIS) {
    const state = await find();
    if (state === 'known') return;
    if (state === 'other') {
      throw lost(
        shard,
        `record ${sequence} in topic ${topic} is not the one that this database has seen there`,
      );
    }
    if (waited >= PATIENCE_MILLIS) break;
    await pause(clock, RETRY_MILLIS);
  }
  const end = (await reader.heads()).get(shard) ?? 0;
  // The record is at another offset: the topic was created again, or the checkpoint's offset is wrong.
  if (end >= sequence) {
    throw lost(shard, `topic ${topic} has record ${sequence} at another offset than this database has seen`);
  }
  const found = end === 0 ? 'is gone, or empty' : `ends with record ${end}`;
  throw lost(shard, `topic ${topic} ${found}, but this database has seen record ${sequence} in it`);
}

function lost(shard: number, what: string): JournalLost {
  return new JournalLost(
    `shard ${shard}: ${what}: restore the topic as it was, or a database from before that record`,
  );
}

export function unknownTopic(shard: number, topic: string): JournalLost {
  return new JournalLost(
    `shard ${shard}: topic ${topic} holds a journal, but this database has never seen a record of it: restore the database that belongs to it, or set another KAFKA_TOPIC_PREFIX; if journal.witness has lost a row, see docs/operate/kafka.md (A checkpoint ahead of its topic)`,
  );
}
