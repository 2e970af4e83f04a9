import type { Release, ReserveOutcome, ReserveRequest } from '../../admission/reservation-desk.js';
import type { DomainEvent } from '../../rules/events.js';
import type { Instant } from '#libs/base/instant.js';
import { opened, planCreate, type PlannedAuction } from '../../rules/decide/plan-create.js';
import { rejected, type Rejection } from '#libs/base/rejection.js';
import { auctionView } from '../../rules/told/view.js';
import { fault, reply, type LinkReply } from '#libs/link/link-protocol.js';
import type { OwnerRequest } from '../../protocol/protocol.js';
import { eventsOf } from './drafts.js';
import { AGAIN } from '#libs/shard/task.js';
import {
  isKept,
  refusalReply,
  type AuctionTask,
  type AuctionTaskResult,
  type TaskRefusal,
} from '../auction-task.js';
import { drafted, isTooLate, TOO_LATE, type Settle, type ShardContext } from './shard-context.js';

export type CreateRequest = Extract<OwnerRequest, { op: 'create' }>;

/** Checks a create against everything but capacity. Preflights make the same checks. */
export function planOf(
  context: ShardContext,
  request: Pick<CreateRequest, 'account' | 'body'>,
  auctionId: string,
  now: Instant,
): PlannedAuction | Rejection {
  const facts = context.policy.createFacts(request.account, request.body, auctionId, now);
  return 'error' in facts ? facts : planCreate(request.body, facts);
}

export class CreateTask implements AuctionTask {
  readonly orderingKey: string;
  private readonly auctionId: string;

  constructor(
    private readonly context: ShardContext,
    private readonly request: CreateRequest,
    readonly settle: Settle,
  ) {
    this.auctionId = context.ids.auction(request.account, request.key);
    this.orderingKey = this.auctionId;
  }

  prelude(): readonly DomainEvent[] {
    return [];
  }

  reservation(now: Instant): ReserveRequest | undefined {
    if (isTooLate(this.request, now)) return undefined;
    const plan = this.plan(now);
    return plan.ok ? { account: this.request.account, need: plan.need, current: [] } : undefined;
  }

  decide(now: Instant, granted: ReserveOutcome | undefined): AuctionTaskResult | typeof AGAIN {
    if (isTooLate(this.request, now)) return this.refuse(TOO_LATE, now, granted);
    if (!this.context.policy.isKnown) return this.policyUnknown(granted);
    const plan = this.plan(now);
    if (!plan.ok) return this.refuse(plan, now, granted);
    if (granted === undefined) return AGAIN;
    if (!granted.ok) return this.refuse(granted, now, granted);
    const head = drafted(this.request, 'CREATE', plan.terms.opened_at);
    const drafts = opened(plan.terms, granted.hold).map((body, index) =>
      index === 0
        ? { ...head, body, auctionId: this.auctionId }
        : { at: head.at, body, auctionId: this.auctionId },
    );
    return { events: eventsOf(drafts), reply: () => this.opened() };
  }

  private plan(now: Instant): PlannedAuction | Rejection {
    if (this.context.book.liveCount >= this.context.activeAuctionLimit) {
      return rejected(
        'ACTIVE_AUCTION_LIMIT',
        'As many auctions are open already as this service carries at a time.',
      );
    }
    return planOf(this.context, this.request, this.auctionId, now);
  }

  private opened(): LinkReply {
    const entry = this.context.book.find(this.auctionId);
    if (entry === undefined) return fault(500, 'internal_error');
    return reply(201, auctionView(entry.head, { account_id: this.request.account, role: 'ORIGINATOR' }));
  }

  private refuse(refusal: TaskRefusal, now: Instant, granted: ReserveOutcome | undefined): AuctionTaskResult {
    const { error, message } = refusal;
    const body = {
      type: 'CREATE_REJECTED' as const,
      data: { auction_id: this.auctionId, account_id: this.request.account, error, message },
    };
    return {
      events: isKept(refusal) ? eventsOf([{ ...drafted(this.request, 'CREATE', now), body }]) : [],
      reply: () => refusalReply(refusal),
      unused: this.unused(granted),
    };
  }

  /** The copy of the policy became too old after admission. */
  private policyUnknown(granted: ReserveOutcome | undefined): AuctionTaskResult {
    return {
      events: [],
      reply: () => fault(503, 'auction_owner_unavailable'),
      unused: this.unused(granted),
    };
  }

  private unused(granted: ReserveOutcome | undefined): Release[] {
    return granted?.ok === true ? [{ account: this.request.account, hold: granted.hold }] : [];
  }
}
