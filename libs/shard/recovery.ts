import { beforeFirst } from '#libs/journal/hash-chain.js';
import type { JournalFamily } from '#libs/journal/journal-id.js';
import { type JournalEntry, type JournalHead, type JournalReader, readAhead } from '#libs/journal/journal.js';
import { JournalCorrupt, JournalUnreadable } from '#libs/journal/journal-errors.js';
import type { SealedSnapshots } from '#libs/journal/sealed-snapshots.js';
import { type Clock, pause } from '#libs/platform/time/clock.js';

const PAGE = 5_000;
const RETRY_MILLIS = 50;
/** For 30 seconds: longer than a store needs to elect a new leader. */
const MOST_ATTEMPTS = 600;

export interface RecoveryPorts {
  readonly family: JournalFamily;
  readonly shard: number;
  readonly reader: JournalReader;
  readonly snapshots: SealedSnapshots;
  /** The snapshot format that `restore` reads. */
  readonly format: number;
  readonly clock: Clock;
  /** The last record of the writer that recovers. Records after it are a successor's and are not read. */
  readonly head: JournalHead;
  /** Takes a snapshot into memory. */
  readonly restore: (content: Buffer) => void;
  /** Takes one event of the journal into memory. */
  readonly replay: (position: number, payload: string) => void;
}

export interface RecoveredExtent {
  /** Events read from the journal, after the snapshot. */
  readonly events: number;
  /** Position of the snapshot; 0 without one. */
  readonly snapshotAt: number;
}

/** Takes the newest trusted snapshot, and the journal after it, into memory. All of it is durable, so callers may be told all of it. */
export async function recoverMemory(ports: RecoveryPorts): Promise<RecoveredExtent> {
  const { family, shard, reader, head } = ports;
  // A successor may have taken a snapshot after this writer's head.
  const snapshot = await ports.snapshots.trusted(reader, shard, ports.format, head.sequence);
  const snapshotAt = snapshot?.sequence ?? 0;
  let events = 0;
  if (snapshot !== undefined) ports.restore(snapshot.content);
  const range = { from: snapshotAt + 1, to: head.sequence };
  let hash = snapshot?.hash ?? beforeFirst(family).hash;
  for await (const page of readAhead((from) => nextPage(ports, from), range)) {
    hash = follow(shard, hash, page);
    for (const record of page) {
      if (record.kind !== 'event') continue;
      ports.replay(record.sequence, record.payload);
      events += 1;
    }
  }
  if (hash !== head.hash)
    throw new JournalCorrupt(shard, head.sequence, 'it is not the one that its writer knows');
  return { events, snapshotAt };
}

/**
 * Each page is a whole hash chain, and all pages together are one too, from the snapshot or the genesis hash to the writer's last
 * record. So the last hash covers everything that memory is made of.
 */
function follow(shard: number, before: string, page: readonly JournalEntry[]): string {
  const [first] = page;
  if (first !== undefined && first.previousHash !== before) {
    throw new JournalCorrupt(shard, first.sequence, 'it does not follow what was read before it');
  }
  return page.at(-1)?.hash ?? before;
}

/**
 * A reader may not know yet of records that the writer knows to be durable. They must not be left out, so the page is read again.
 */
async function nextPage(
  { shard, reader, clock, head }: RecoveryPorts,
  from: number,
): Promise<JournalEntry[]> {
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
    const page = await reader.read(shard, from, Math.min(PAGE, head.sequence - from + 1));
    if (page.length > 0) return page;
    await pause(clock, RETRY_MILLIS);
  }
  throw new JournalUnreadable(`shard ${shard} goes up to ${head.sequence} and can be read up to ${from - 1}`);
}
