import { holdsOf } from '#libs/auction/holds-of.js';
import type { Instant } from '#libs/auction/instant.js';
import type { Hold } from '#libs/auction/terms.js';
import { decodeEvent } from '#libs/auction/upcasters.js';
import type { JournalReader } from '#libs/journal/journal.js';
import type { AuctionBook } from './auction-book.js';
import type { StoredAnswers } from './stored-answers.js';

const PAGE = 5_000;

export interface Recovered {
  readonly events: number;
  readonly lastEventAt: Instant | undefined;
}

export interface RecoveryPorts {
  readonly shard: number;
  readonly reader: JournalReader;
  readonly book: AuctionBook;
  readonly stored: StoredAnswers;
}

/** Takes the journal behind `after` into memory. Everything read from it is durable, so everything may be told. */
export async function recover(ports: RecoveryPorts, after: number): Promise<Recovered> {
  const { shard, reader, book, stored } = ports;
  let events = 0;
  let lastEventAt: Instant | undefined;
  let from = after + 1;
  for (;;) {
    const page = await reader.read(shard, from, PAGE);
    for (const record of page) {
      if (record.kind !== 'event') continue;
      const event = decodeEvent(record.payload);
      if ('auction_id' in event) book.apply({ position: record.sequence, event });
      stored.note(record.sequence, event);
      if (lastEventAt === undefined || event.at > lastEventAt) lastEventAt = event.at;
      events += 1;
    }
    if (page.length < PAGE) break;
    from += page.length;
  }
  for (const entry of book.all()) entry.durable = entry.head;
  return { events, lastEventAt };
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
