import { Injectable } from '@nestjs/common';
import { errorReply } from '#libs/edge/reply/flat-errors.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { CompletedReader } from '../../projections/completed-reader.js';

export const AUCTION_NOT_FOUND = errorReply(404, 'auction_not_found');
export const PROJECTION_UNAVAILABLE = errorReply(503, 'completed_projection_unavailable');

/** Answers from the projection of completed auctions. An unavailable database is answered with 503. */
@Injectable()
export class CompletedReads {
  constructor(private readonly reader: CompletedReader) {}

  /** An auction that the caller may not see and one that does not exist cost the same query and give the same bytes. */
  auction(auctionId: string, account: string): Promise<Reply> {
    return this.guarded(async () => {
      const found = await this.reader.auction(auctionId, account);
      if (found === undefined) return AUCTION_NOT_FOUND;
      return { status: 200, body: found.view, headers: { 'x-auction-completed-as-of': found.completedAsOf } };
    });
  }

  quotes(auctionId: string, account: string): Promise<Reply> {
    return this.guarded(async () => {
      const quotes = await this.reader.quotesOf(auctionId, account);
      return quotes === undefined ? AUCTION_NOT_FOUND : { status: 200, body: { quotes } };
    });
  }

  async guarded(read: () => Promise<Reply>): Promise<Reply> {
    try {
      return await read();
    } catch {
      return PROJECTION_UNAVAILABLE;
    }
  }
}
