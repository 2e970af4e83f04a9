import type { AuctionEvent, AuctionEventBody, CommandMark } from '#libs/auction/rules/events.js';
import type { Instant } from '#libs/base/instant.js';
import type { AuctionState } from '#libs/auction/rules/state.js';
import { encodeEvent, versionOf } from '#libs/auction/rules/event-versions.js';
import type { AuctionBook } from '#libs/auction/shard/memory/auction-book.js';
import type { AuctionEntry } from '#libs/auction/shard/memory/auction-book.js';
import type { AuctionHistories } from '#libs/auction/shard/ports.js';
import { retire } from '#libs/auction/shard/memory/retirement.js';
import type { JournalWriter } from '#libs/journal/journal.js';

const APPEND_RECORDS = 1_000;

/** Writes the journal of one shard while its owner is stopped, and keeps the same state in memory. */
export class ShardScribe {
  private position: number;
  private unwritten: string[] = [];
  private readonly touched = new Set<AuctionEntry>();

  constructor(
    readonly writer: JournalWriter,
    readonly book: AuctionBook,
    /** The time of the last event. It never goes back. */
    public latest: Instant,
    private readonly histories: AuctionHistories,
  ) {
    this.position = writer.head.sequence;
  }

  get shard(): number {
    return this.writer.shard;
  }

  /** Returns the auction after the event. The next flush writes the event to the journal. */
  write(auctionId: string, at: Instant, body: AuctionEventBody, command?: CommandMark): AuctionState {
    this.position += 1;
    if (at > this.latest) this.latest = at;
    const event = {
      ...body,
      version: versionOf(body.type),
      at,
      ...(command === undefined ? {} : { request_id: command.key, command }),
      auction_id: auctionId,
    } as AuctionEvent;
    this.unwritten.push(encodeEvent(event));
    const entry = this.book.apply({ position: this.position, event });
    this.touched.add(entry);
    return entry.head;
  }

  /** Resolves once everything is durable. */
  async flush(): Promise<void> {
    while (this.unwritten.length > 0) {
      const payloads = this.unwritten.splice(0, APPEND_RECORDS);
      const { firstSequence } = await this.writer.append(payloads);
      const expected = this.position - this.unwritten.length - payloads.length + 1;
      if (firstSequence !== expected) throw new Error(`expected position ${expected}, got ${firstSequence}`);
    }
    for (const entry of this.touched) entry.durable = entry.head;
    this.touched.clear();
  }

  /** Evicts completed auctions from memory, as an owner does. */
  async retire(): Promise<void> {
    await this.flush();
    await retire(this.book, this.histories, this.position);
  }
}
