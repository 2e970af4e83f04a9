import { decodeEvent, encodeEvent } from '#libs/auction/rules/event-versions.js';
import { AuctionBook } from '#libs/auction/shard/memory/auction-book.js';
import { auctionHistory } from './auction-history.js';

/**
 * Loads open auctions into memory, like a recovering owner, and prints the memory used. Run with --expose-gc.
 */
const SHARD = 0;
const QUOTES = 10;

const count = Number(process.argv[2]);
const book = new AuctionBook();
let position = 0;
for (let number = 0; number < count; number += 1) {
  for (const event of auctionHistory({ number, shard: SHARD, quotes: QUOTES, revisions: 0, isOver: false })) {
    position += 1;
    const read = decodeEvent(encodeEvent(event));
    if ('auction_id' in read) book.apply({ position, event: read });
  }
}
for (const entry of book.all()) entry.durable = entry.head;
globalThis.gc?.();
globalThis.gc?.();
const { heapUsed: heap, rss: resident } = process.memoryUsage();
console.log(JSON.stringify({ auctions: book.size, heap, resident }));
