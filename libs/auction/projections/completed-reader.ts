import type { Pool } from 'pg';
import type { CompletedStatus } from '../rules/events.js';
import type { Instant } from '#libs/base/instant.js';
import { completionFor, type ViewerRole } from '../rules/told/viewer.js';
import { auctionView } from '../rules/told/view.js';
import { quotesFor } from '../rules/told/award-view.js';
import { AnswerReader, type AnswerScope, type ProjectedAnswer } from './reader/answer-reader.js';
import { type AuctionMark, AuctionReader, type ListedAuction } from './reader/auction-reader.js';
import { auctionOffsets } from './projection.js';
import { type ListedQuote, type QuoteMark, QuoteReader } from './reader/quote-reader.js';
import { type TimelineBody, TimelineReader } from './reader/timeline-reader.js';

/** All reads of the projections. An auction is shown only to parties for whom it is over, a quote only to its maker. */
export class CompletedReader {
  private readonly auctions: AuctionReader;
  private readonly timelines: TimelineReader;
  private readonly ownQuotes: QuoteReader;
  private readonly answers: AnswerReader;

  constructor(private readonly pool: Pool) {
    this.auctions = new AuctionReader(pool);
    this.timelines = new TimelineReader(pool);
    this.ownQuotes = new QuoteReader(pool);
    this.answers = new AnswerReader(pool);
  }

  /** The view as JSON text, and when the auction was over for the viewer. This time reveals nothing about others. */
  async auction(
    auctionId: string,
    viewerId: string,
  ): Promise<{ readonly view: string; readonly completedAsOf: Instant } | undefined> {
    const found = await this.auctions.find(auctionId, viewerId);
    if (found === undefined) return undefined;
    const completedAsOf = completionFor(found.state, found.viewer);
    if (completedAsOf === undefined)
      throw new Error(`auction ${auctionId} is stored although it is not over for its viewer`);
    return { view: JSON.stringify(auctionView(found.state, found.viewer)), completedAsOf };
  }

  /** `[opened_at, auction_id, view as JSON text]`, newest first. */
  page(viewerId: string, limit: number, before?: AuctionMark): Promise<readonly ListedAuction[]> {
    return this.auctions.page(viewerId, limit, before);
  }

  async events(
    auctionId: string,
    viewerId: string,
    afterSeq: number,
    limit: number,
  ): Promise<TimelineBody | 'incomplete' | undefined> {
    const found = await this.auctions.find(auctionId, viewerId);
    return found === undefined ? undefined : this.timelines.page(found, afterSeq, limit);
  }

  async quotesOf(auctionId: string, viewerId: string): Promise<readonly object[] | undefined> {
    const found = await this.auctions.find(auctionId, viewerId);
    return found === undefined ? undefined : quotesFor(found.state, found.viewer);
  }

  /** `[submitted_at, quote_id, status, view as JSON text]` of the account's own quotes, live auctions included, newest first. */
  quotes(
    account: string,
    status: string | undefined,
    limit: number,
    before?: QuoteMark,
  ): Promise<readonly ListedQuote[]> {
    return this.ownQuotes.page(account, status, limit, before);
  }

  /** The account's role in an auction that is over for it. */
  roleOn(auctionId: string, account: string): Promise<ViewerRole | undefined> {
    return this.auctions.roleOn(auctionId, account);
  }

  /** Only for an auction that is over for all parties. The caller checks that it may be shown. */
  statusOf(auctionId: string): Promise<CompletedStatus | undefined> {
    return this.auctions.statusOf(auctionId);
  }

  ownsQuote(auctionId: string, quoteId: string, account: string): Promise<boolean> {
    return this.ownQuotes.owns(auctionId, quoteId, account);
  }

  answer(scope: AnswerScope): Promise<ProjectedAnswer | undefined> {
    return this.answers.find(scope);
  }

  /** The journal position of the shard up to which all of this is written. */
  position(shard: number): Promise<number> {
    return auctionOffsets.position(this.pool, shard);
  }
}
