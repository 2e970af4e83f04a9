import { bookAfter, type BookState } from '#libs/data/rules/books.js';
import { contentOf } from '#libs/data/rules/event-codec.js';
import type { BookEvent, MarketDataEvent, TradeEvent } from '#libs/data/rules/events.js';
import type { Quarantined, SourceBatch, SourceFeed } from '#libs/data/ingest/source.js';

/** Follows a feed as its provider's ingest does: from the last cursor after each failure, and each event once. */
export class FollowedFeed {
  readonly quarantined: Quarantined[] = [];
  readonly faults: unknown[] = [];
  /** The first event of each identity. */
  readonly events = new Map<string, MarketDataEvent>();
  readonly books = new Map<string, BookState>();
  /** How often a book became unknown. */
  dropped = 0;
  conflicts = 0;
  /** The number of trades that came again. */
  repeats = 0;
  batches = 0;
  cursor: string | undefined;
  asOf = 0;
  isCaughtUp = false;
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly feed: SourceFeed) {}

  static start(feed: SourceFeed, cursor?: string): FollowedFeed {
    const followed = new FollowedFeed(feed);
    followed.cursor = cursor;
    followed.running = followed.run();
    return followed;
  }

  get trades(): TradeEvent[] {
    return [...this.events.values()].filter((event) => event.type === 'TRADE');
  }

  ofMarket(marketId: string): MarketDataEvent[] {
    return [...this.events.values()].filter((event) => 'market_id' in event && event.market_id === marketId);
  }

  book(marketId: string, outcome = 0): BookState | undefined {
    return this.books.get(`${marketId} ${String(outcome)}`);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      try {
        for await (const delivery of this.feed.follow(this.cursor, this.stopping.signal)) this.take(delivery);
      } catch (error) {
        this.faults.push(error);
      }
    }
  }

  take(delivery: SourceBatch | Quarantined): void {
    if ('quarantined' in delivery) {
      this.quarantined.push(delivery);
      return;
    }
    this.batches += 1;
    for (const event of delivery.events) {
      if (event.type === 'BOOK') this.takeBook(event);
      else this.takeEvent(event);
    }
    this.cursor = delivery.cursor;
    this.asOf = Math.max(this.asOf, delivery.asOf ?? 0);
    this.isCaughtUp ||= delivery.isCaughtUp;
  }

  private takeEvent(event: Exclude<MarketDataEvent, BookEvent>): void {
    const name = `${event.type} ${event.source_id}`;
    const known = this.events.get(name);
    if (known !== undefined && event.type === 'TRADE') this.repeats += 1;
    if (known === undefined) this.events.set(name, event);
    else if (known.type === 'BOOK' || contentOf(known) !== contentOf(event)) this.conflicts += 1;
  }

  private takeBook(event: BookEvent): void {
    const name = `${event.market_id} ${String(event.outcome_index)}`;
    const next = bookAfter(this.books.get(name), event);
    if (next === undefined) return;
    if (next.isDropped) this.dropped += 1;
    this.books.set(name, next);
  }
}
