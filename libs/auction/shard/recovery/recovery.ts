import { holdsOf } from '../../rules/holds-of.js';
import type { Instant } from '#libs/base/instant.js';
import type { Hold } from '../../rules/terms.js';
import { decodeEvent } from '../../rules/event-versions.js';
import { beforeFirst } from '#libs/journal/hash-chain.js';
import type { JournalEntry, JournalHead, JournalReader } from '#libs/journal/journal.js';
import { JournalCorrupt, JournalUnreadable } from '#libs/journal/journal-errors.js';
import { readAhead } from '#libs/journal/read-ahead.js';
import type { SealedSnapshots } from '#libs/journal/sealed-snapshots.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { AuctionBook } from '../memory/auction-book.js';
import type { NotedConnections } from '../connections/noted-connections.js';
import { readMoment, SNAPSHOT_FORMAT } from './shard-snapshot.js';
import type { StoredAnswers } from '../memory/stored-answers.js';

const PAGE = 5_000;
const LOOK_AGAIN_MILLIS = 50;
/** For 30 seconds: longer than a store needs that has just changed its leader. */
const MOST_LOOKS = 600;

export interface Recovered {
  /** Read from the journal, behind the snapshot. */
  readonly events: number;
  /** Where the snapshot stood; 0 without one. */
  readonly snapshotAt: number;
  readonly lastEventAt: Instant | undefined;
}

export interface RecoveryPorts {
  readonly shard: number;
  readonly reader: JournalReader;
  readonly snapshots: SealedSnapshots;
  readonly book: AuctionBook;
  readonly stored: StoredAnswers;
  readonly noted: NotedConnections;
  readonly clock: Clock;
  /** The last record of the writer who asks. It is read as far as that, whoever has written behind it since. */
  readonly head: JournalHead;
}

/** Takes the newest snapshot that can be believed, and the journal behind it, into memory. All of it is durable, so all of it may be told. */
export async function recover(ports: RecoveryPorts): Promise<Recovered> {
  const { shard, reader, book, stored, noted, head } = ports;
  // A successor may have taken one behind this writer's head since.
  const snapshot = await ports.snapshots.trusted(reader, shard, SNAPSHOT_FORMAT, head.sequence);
  const snapshotAt = snapshot?.sequence ?? 0;
  let events = 0;
  let lastEventAt = snapshot === undefined ? undefined : restore(ports, snapshot.content);
  const rest = { from: snapshotAt + 1, to: head.sequence };
  let hash = snapshot?.hash ?? beforeFirst('auction').hash;
  for await (const page of readAhead((from) => nextPage(ports, from), rest)) {
    hash = follow(shard, hash, page);
    for (const record of page) {
      if (record.kind !== 'event') continue;
      const event = decodeEvent(record.payload);
      if ('auction_id' in event) book.apply({ position: record.sequence, event });
      stored.note(record.sequence, event);
      noted.note(event);
      if (lastEventAt === undefined || event.at > lastEventAt) lastEventAt = event.at;
      events += 1;
    }
  }
  if (hash !== head.hash)
    throw new JournalCorrupt(shard, head.sequence, 'it is not the one that its writer knows');
  for (const entry of book.all()) entry.durable = entry.head;
  return { events, snapshotAt, lastEventAt };
}

/**
 * Each page is a whole chain, and so is what they make together: from the snapshot, or from nothing, to the record that the writer has
 * sealed. Its hash is then that of everything which memory is made of.
 */
function follow(shard: number, before: string, page: readonly JournalEntry[]): string {
  const [first] = page;
  if (first !== undefined && first.previousHash !== before) {
    throw new JournalCorrupt(shard, first.sequence, 'it does not follow what was read before it');
  }
  return page.at(-1)?.hash ?? before;
}

/**
 * A reader may not have heard yet of what the writer knows to be durable; to begin without that would be to forget it. What stands behind
 * its head a successor has written since, or who moves the journals: that the writer is deposed is told by its first question, not as damage.
 */
async function nextPage(
  { shard, reader, clock, head }: RecoveryPorts,
  from: number,
): Promise<JournalEntry[]> {
  for (let look = 1; look <= MOST_LOOKS; look += 1) {
    const page = await reader.read(shard, from, Math.min(PAGE, head.sequence - from + 1));
    if (page.length > 0) return page;
    await pause(clock, LOOK_AGAIN_MILLIS);
  }
  throw new JournalUnreadable(`shard ${shard} goes up to ${head.sequence} and can be read up to ${from - 1}`);
}

function restore({ book, stored, noted }: RecoveryPorts, content: Buffer): Instant {
  const { entries, answers, connections, lastEventAt } = readMoment(content);
  for (const entry of entries) book.restore(entry);
  stored.restore(answers);
  noted.restore(connections);
  return lastEventAt;
}

/** What the auctions in memory have set aside, by account: what the reservations must say, no more and no less. */
export function holdsByAccount(book: AuctionBook): Map<string, Hold[]> {
  const held = new Map<string, Hold[]>();
  for (const entry of book.all()) {
    for (const [account, holds] of holdsOf(entry.head)) {
      const sum = held.get(account);
      if (sum === undefined) held.set(account, [...holds]);
      else sum.push(...holds);
    }
  }
  return held;
}
