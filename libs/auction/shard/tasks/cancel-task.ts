import { decideCancel } from '../../rules/decide/void.js';
import type { DomainEvent } from '../../rules/events.js';
import type { Instant } from '#libs/base/instant.js';
import { auctionView } from '../../rules/told/view.js';
import { fault, reply } from '#libs/link/link-protocol.js';
import type { OwnerRequest } from '../../protocol/protocol.js';
import type { AuctionEntry } from '../memory/auction-book.js';
import { type AuctionTask, type AuctionTaskResult, refusalReply } from '../auction-task.js';
import { type Draft, eventsOf } from './drafts.js';
import { dueEvents, isPastClose } from './due-events.js';
import { drafted, isTooLate, type Settle, type ShardContext, TOO_LATE } from './shard-context.js';

export type CancelRequest = Extract<OwnerRequest, { op: 'cancel' }>;

export class CancelTask implements AuctionTask {
  readonly orderingKey: string;

  constructor(
    private readonly context: ShardContext,
    private readonly entry: AuctionEntry,
    private readonly request: CancelRequest,
    readonly settle: Settle,
  ) {
    this.orderingKey = `${request.auction_id}/${request.account}`;
  }

  prelude(now: Instant): readonly DomainEvent[] {
    return dueEvents(this.entry, now, this.context);
  }

  reservation(): undefined {
    return undefined;
  }

  decide(now: Instant): AuctionTaskResult {
    if (isTooLate(this.request, now)) return { events: [], reply: () => refusalReply(TOO_LATE) };
    const { head: state } = this.entry;
    const head = { ...drafted(this.request, 'CANCEL', now), auctionId: this.entry.id };
    const reason = this.request.reason === undefined ? {} : { reason: this.request.reason };
    const decided = decideCancel(state, { by: 'ORIGINATOR', ...reason }, { now });
    if (decided.ok) {
      return {
        events: eventsOf(
          decided.events.map(({ at, body }, index) =>
            index === 0 ? { ...head, at, body } : { at, body, auctionId: this.entry.id },
          ),
        ),
        reply: () =>
          reply(200, auctionView(this.entry.head, { account_id: this.request.account, role: 'ORIGINATOR' })),
      };
    }
    const { error, message, status } = decided;
    const refusal: Draft = { ...head, body: { type: 'CANCEL_REJECTED', data: { error, message } } };
    return {
      events: state.completed_at === undefined && !isPastClose(state, now) ? eventsOf([refusal]) : [],
      reply: () => fault(status, error, message),
    };
  }
}
