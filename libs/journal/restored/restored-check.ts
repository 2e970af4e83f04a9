import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { JournalReader } from '../journal.js';
import { checkRecord } from '../checkpoint/checkpoint-check.js';
import { RestoredDatabase, type RestoredEnd, type RestoredMark } from './restored-mark.js';

/** Brokers that have just changed a topic's leader may for a moment not know of its latest records. */
const LOOK_AGAIN_MILLIS = 1_000;

export interface RestoredPorts {
  readonly mark: RestoredMark;
  /** Shows whatever stands there. */
  readonly reader: JournalReader;
  readonly topicOf: (shard: number) => string;
  readonly clock: Clock;
}

/** How far a topic goes beyond what a backup knew of it. */
export interface Surplus extends RestoredEnd {
  /** Of the topic. */
  readonly end: number;
}

/** By shard. Rejects where a topic does not hold what the backup knew. */
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
 * For a writer, before it writes anything: a restored database is fit to be written on where every topic ends as the backup knew it. All of
 * them are looked at, and the mark goes for all at once, before the first record of a new epoch makes one longer.
 */
export async function checkRestored(ports: RestoredPorts): Promise<void> {
  const { mark, clock } = ports;
  if (!(await isMarked(ports))) return;
  await pause(clock, LOOK_AGAIN_MILLIS);
  if (await isMarked(ports)) await mark.remove();
}

/** Rejects where it is, and a topic goes further. */
async function isMarked(ports: RestoredPorts): Promise<boolean> {
  const ends = await ports.mark.ends();
  if (ends.length === 0) return false;
  const found = await surplusOf(ports, ends);
  // Another owner may have found all of them right meanwhile, and have written since.
  if ((await ports.mark.ends()).length === 0) return false;
  refuseAhead(found);
  return true;
}

function refuseAhead(found: readonly Surplus[]): void {
  const ahead = found.filter(({ end, sequence }) => end !== sequence);
  if (ahead.length === 0) return;
  const told = ahead.map(({ shard, sequence, end }) => {
    return `shard ${shard} goes up to record ${end}, the backup up to ${sequence}`;
  });
  throw new RestoredDatabase(told.join('; '));
}
