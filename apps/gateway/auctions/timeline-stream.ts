import { Injectable } from '@nestjs/common';
import { ndjsonReply } from '#libs/edge/ndjson.js';
import { errorReply, type Reply } from '#libs/edge/reply.js';
import { shardOfId } from '#libs/owner-link/routing.js';
import { CompletedReader } from '#libs/projections/completed-reader.js';
import { OwnerRouter, passOn } from '../owner-router.js';
import { AUCTION_NOT_FOUND, CompletedReads } from './completed-reads.js';

export interface TimelineAsked {
  readonly auctionId: string;
  readonly account: string;
  readonly requestId: string;
}

interface TimelinePage {
  readonly events: readonly { readonly seq: number }[];
  readonly next_after_seq?: number;
}

const STREAM_PAGE = 1_000;
const INCOMPLETE = errorReply(503, 'audit_timeline_incomplete');

/** A caller's timeline, from the owner's journal while the auction is held there, else from the execution projection. */
@Injectable()
export class TimelineStream {
  constructor(
    private readonly owners: OwnerRouter,
    private readonly reader: CompletedReader,
    private readonly completed: CompletedReads,
  ) {}

  async page(asked: TimelineAsked, afterSeq: number, limit: number): Promise<Reply> {
    const reply = await this.owners.ask(shardOfId(asked.auctionId), {
      op: 'events',
      account: asked.account,
      request_id: asked.requestId,
      auction_id: asked.auctionId,
      after_seq: afterSeq,
      limit,
    });
    if (reply.status !== 404) return passOn(reply);
    return this.completed.guarded(async () => {
      const body = await this.reader.events(asked.auctionId, asked.account, afterSeq, limit);
      if (body === undefined) return AUCTION_NOT_FOUND;
      return body === 'incomplete' ? INCOMPLETE : { status: 200, body };
    });
  }

  /** The first page decides whether there is an answer at all; a fault behind it breaks the stream off without its last line. */
  async stream(asked: TimelineAsked, afterSeq: number): Promise<Reply> {
    const first = await this.page(asked, afterSeq, STREAM_PAGE);
    if (first.status !== 200) return first;
    return ndjsonReply(this.lines(asked, pageIn(first)));
  }

  private async *lines(asked: TimelineAsked, first: TimelinePage): AsyncGenerator<object> {
    let page = first;
    for (;;) {
      yield* page.events;
      if (page.next_after_seq === undefined) return;
      const reply = await this.page(asked, page.next_after_seq, STREAM_PAGE);
      if (reply.status !== 200) throw new Error(`timeline broke off with ${reply.status}`);
      page = pageIn(reply);
    }
  }
}

function pageIn({ body }: Reply): TimelinePage {
  return (typeof body === 'string' ? JSON.parse(body) : body) as TimelinePage;
}
