import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { JournalReader } from '../journal.js';
import { checkRecord } from '../checkpoint/checkpoint-check.js';
import { RestoredDatabase, type RestoredEnd, type RestoredMark } from './restored-mark.js';

/** Brokers that have just changed a topic's leader may briefly not know its latest records. */
const RECHECK_MILLIS = 1_000;

export interface RestoredPorts {
  readonly mark: RestoredMark;
  /** Reads unchecked. */
  readonly reader: JournalReader;
  readonly topicOf: (shard: number) => string;
  readonly clock: Clock;
}

/** How far a topic extends beyond what a backup knew of it. */
export interface Surplus extends RestoredEnd {
  /** The last sequence of the topic. */
  readonly end: number;
}

/** By shard. Rejects if a topic lacks what the backup knew. */
export async function surplusOf(
  { reader, topicOf, clock }: Omit<RestoredPorts, 'mark'>,
  ends: readonly RestoredEnd[],
): Promise<Surplus[]> {
  for (const known of ends) {
    const { shard } = known;
    await checkRecord({ shard, topic: topicOf(shard), reader, clock }, known);
  }
  const heads = await reader.heads();
  return ends.map((known) => ({ ...known, end: heads.get(known.shard) ?? 0 }));
}

/**
 * For a writer, before it writes anything. A restored database may be written if every topic ends as the backup knew it. Checks all
 * of them and clears all marks at once, before the first record of a new epoch makes a topic longer.
 */
export async function checkRestored(ports: RestoredPorts): Promise<void> {
  const { mark, clock } = ports;
  if (!(await isMarked(ports))) return;
  await pause(clock, RECHECK_MILLIS);
  if (await isMarked(ports)) await mark.remove();
}

/** Rejects if the database is marked and a topic extends further. */
async function isMarked(ports: RestoredPorts): Promise<boolean> {
  const ends = await ports.mark.ends();
  if (ends.length === 0) return false;
  const found = await surplusOf(ports, ends);
  // Another owner may have found all topics right meanwhile, and have written since.
  if ((await ports.mark.ends()).length === 0) return false;
  refuseAhead(found);
  return true;
}

function refuseAhead(found: readonly Surplus[]): void {
  const ahead = found.filter(({ end, sequence }) => end !== sequence);
  if (ahead.length === 0) return;
  const texts = ahead.map(({ shard, sequence, end }) => {
    return `shard ${shard} goes up to record ${end}, the backup up to ${sequence}`;
  });
  throw new RestoredDatabase(texts.join('; '));
}
