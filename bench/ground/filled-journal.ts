import { encodeEvent } from '#libs/auction/rules/event-versions.js';
import { PostgresJournal } from '#libs/journal/postgres/postgres-journal.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { auctionHistory, type HistoryOf } from '../load/auction-history.js';

const APPEND = 1_000;

/** Writes this many auctions with the product's journal writer. Resolves with the last position. */
export async function fillJournal(
  url: string,
  shard: number,
  auctions: { readonly from: number; readonly count: number },
  like: Pick<HistoryOf, 'quotes' | 'revisions' | 'isOver'>,
): Promise<number> {
  const writer = await new PostgresJournal({
    family: 'auction',
    url,
    clock: new SystemClock(),
    opener: 'bench',
  }).open(shard);
  const payloads: string[] = [];
  for (let number = auctions.from; number < auctions.from + auctions.count; number += 1) {
    payloads.push(...auctionHistory({ ...like, number, shard }).map(encodeEvent));
    while (payloads.length >= APPEND) await writer.append(payloads.splice(0, APPEND));
  }
  if (payloads.length > 0) await writer.append(payloads);
  const { sequence } = writer.head;
  await writer.close();
  return sequence;
}
