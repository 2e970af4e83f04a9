import type { NumberedEntry } from '../../rules/told/timeline-entry.js';
import { phaseOf } from '../../rules/told/view.js';
import type { ViewedStatus } from '../../rules/told/viewer.js';
import { payloadOf, type Reply } from '#libs/edge/reply/reply.js';
import { shardOfId } from '../../protocol/routing.js';
import type { Archive, Refused, TimelinePart } from '../../stream/ports.js';
import type { CompletedReads } from '../auctions/completed-reads.js';
import type { TimelineStream } from '../auctions/timeline-stream.js';
import { passOn, type OwnerRouter } from '../owner-router.js';

interface TimelinePage {
  readonly status: ViewedStatus;
  readonly events: readonly NumberedEntry[];
}

/** Reads as over HTTP, for a subscription to an auction that is not in the feed's memory. */
export class StreamArchive implements Archive {
  constructor(
    private readonly owners: OwnerRouter,
    private readonly completed: CompletedReads,
    private readonly timelines: TimelineStream,
    private readonly newRequestId: () => string,
  ) {}

  async view(
    account: string,
    auctionId: string,
  ): Promise<{ readonly text: string; readonly isOver: boolean } | Refused> {
    const reply = await this.owners.ask(shardOfId(auctionId), {
      op: 'auction',
      account,
      request_id: this.newRequestId(),
      auction_id: auctionId,
    });
    const answer = reply.status === 404 ? await this.completed.auction(auctionId, account) : passOn(reply);
    if (answer.status !== 200) return refusedBy(answer);
    const text = payloadOf(answer) ?? '';
    return { text, isOver: (JSON.parse(text) as { readonly phase: string }).phase === 'COMPLETED' };
  }

  async events(
    account: string,
    auctionId: string,
    afterSeq: number,
    limit: number,
  ): Promise<TimelinePart | Refused> {
    const wanted = { auctionId, account, requestId: this.newRequestId() };
    const reply = await this.timelines.page(wanted, afterSeq, limit);
    if (reply.status !== 200) return refusedBy(reply);
    const { events: entries, status } = JSON.parse(payloadOf(reply) ?? '') as TimelinePage;
    return { entries, isOver: phaseOf(status) === 'COMPLETED' };
  }
}

function refusedBy(reply: Reply): Refused {
  return { status: reply.status, ...(JSON.parse(payloadOf(reply) ?? '{}') as { error: string }) };
}
