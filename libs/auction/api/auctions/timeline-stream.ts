import { Injectable } from '@nestjs/common';
import { ndjsonReply } from '#libs/edge/reply/ndjson.js';
import { errorReply } from '#libs/edge/reply/flat-errors.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import { shardOfId } from '../../protocol/routing.js';
import { CompletedReader } from '../../projections/completed-reader.js';
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

/** A caller's timeline, from the owner's journal while the auction is held there, else from the history's projection. */
@Injectable()
export class TimelineStream {
  constructor(
    private readonly owners: OwnerRouter,
    private readonly reader: CompletedReader,
    private readonly completed: CompletedReads,
  ) {}

  async page(asked: TimelineAsked, afterSeq: number, limit: number): Promise<Reply> {
    const reply = await this.held(asked, afterSeq, limit);
    return reply.status === 404 ? this.kept(asked, afterSeq, limit) : passOn(reply);
  }

  /** The first page decides whether there is an answer at all; a fault behind it breaks the stream off without its last line. */
  async stream(asked: TimelineAsked, afterSeq: number): Promise<Reply> {
    const first = await this.streamed(asked, afterSeq);
    return first.status === 200 ? ndjsonReply(this.lines(asked, pageIn(first))) : first;
  }

  private async *lines(asked: TimelineAsked, first: TimelinePage): AsyncGenerator<object> {
    let page = first;
    for (;;) {
      yield* page.events;
      if (page.next_after_seq === undefined) return;
      const reply = await this.streamed(asked, page.next_after_seq);
      if (reply.status !== 200) throw new Error(`timeline broke off with ${reply.status}`);
      page = pageIn(reply);
    }
  }

  /** What is kept comes in one piece: each part of it would be read with all that is before it. */
  private async streamed(asked: TimelineAsked, afterSeq: number): Promise<Reply> {
    const reply = await this.held(asked, afterSeq, STREAM_PAGE);
    return reply.status === 404 ? this.kept(asked, afterSeq, Number.MAX_SAFE_INTEGER) : passOn(reply);
  }

  private held(
    { auctionId, account, requestId }: TimelineAsked,
    afterSeq: number,
    limit: number,
  ): Promise<LinkReply> {
    return this.owners.ask(shardOfId(auctionId), {
      op: 'events',
      account,
      request_id: requestId,
      auction_id: auctionId,
      after_seq: afterSeq,
      limit,
    });
  }

  private kept({ auctionId, account }: TimelineAsked, afterSeq: number, limit: number): Promise<Reply> {
    return this.completed.guarded(async () => {
      const body = await this.reader.events(auctionId, account, afterSeq, limit);
      if (body === undefined) return AUCTION_NOT_FOUND;
      return body === 'incomplete' ? INCOMPLETE : { status: 200, body };
    });
  }
}

function pageIn({ body }: Reply): TimelinePage {
  return (typeof body === 'string' ? JSON.parse(body) : body) as TimelinePage;
}
