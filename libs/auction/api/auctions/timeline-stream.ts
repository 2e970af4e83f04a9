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

/** A caller's timeline: from the owner while it holds the auction, else from the projection of the auction history. */
@Injectable()
export class TimelineStream {
  constructor(
    private readonly owners: OwnerRouter,
    private readonly reader: CompletedReader,
    private readonly completed: CompletedReads,
  ) {}

  async page(wanted: TimelineAsked, afterSeq: number, limit: number): Promise<Reply> {
    const reply = await this.fromOwner(wanted, afterSeq, limit);
    return reply.status === 404 ? this.fromProjection(wanted, afterSeq, limit) : passOn(reply);
  }

  /** The first page decides about the status. A later fault breaks the stream off without its last line. */
  async stream(wanted: TimelineAsked, afterSeq: number): Promise<Reply> {
    const first = await this.streamed(wanted, afterSeq);
    return first.status === 200 ? ndjsonReply(this.lines(wanted, pageIn(first))) : first;
  }

  private async *lines(wanted: TimelineAsked, first: TimelinePage): AsyncGenerator<object> {
    let page = first;
    for (;;) {
      yield* page.events;
      if (page.next_after_seq === undefined) return;
      const reply = await this.streamed(wanted, page.next_after_seq);
      if (reply.status !== 200) throw new Error(`timeline broke off with ${reply.status}`);
      page = pageIn(reply);
    }
  }

  /** The projection gives all entries at once, because each page would have to be read from the first event. */
  private async streamed(wanted: TimelineAsked, afterSeq: number): Promise<Reply> {
    const reply = await this.fromOwner(wanted, afterSeq, STREAM_PAGE);
    return reply.status === 404
      ? this.fromProjection(wanted, afterSeq, Number.MAX_SAFE_INTEGER)
      : passOn(reply);
  }

  private fromOwner(
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

  private fromProjection(
    { auctionId, account }: TimelineAsked,
    afterSeq: number,
    limit: number,
  ): Promise<Reply> {
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
