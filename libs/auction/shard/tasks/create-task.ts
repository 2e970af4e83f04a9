import type { ReserveOutcome, ReserveRequest } from '../../admission/reservation-desk.js';
import type { Instant } from '#libs/base/instant.js';
import { opened, planCreate, type PlannedAuction } from '../../rules/decide/plan-create.js';
import { rejected, type Rejection } from '#libs/base/rejection.js';
import { auctionView } from '../../rules/told/view.js';
import { fault, reply, type LinkReply } from '#libs/link/link-protocol.js';
import type { OwnerRequest } from '../../protocol/protocol.js';
import type { Release } from '../releases.js';
import {
  AGAIN,
  isKept,
  refusalReply,
  type Decision,
  type Draft,
  type Refusal,
  type Task,
} from '#libs/shard/task.js';
import { drafted, isTooLate, TOO_LATE, type Settle, type ShardContext } from './shard-context.js';

export type CreateRequest = Extract<OwnerRequest, { op: 'create' }>;

/** Checks a create against everything but capacity; the preflight asks the same. */
export function planOf(
  context: ShardContext,
  request: Pick<CreateRequest, 'account' | 'body'>,
  auctionId: string,
  now: Instant,
): PlannedAuction | Rejection {
  const facts = context.policy.createFacts(request.account, request.body, auctionId, now);
  return 'error' in facts ? facts : planCreate(request.body, facts);
}

export class CreateTask implements Task {
  readonly lane: string;
  private readonly auctionId: string;

  constructor(
    private readonly context: ShardContext,
    private readonly request: CreateRequest,
    readonly settle: Settle,
  ) {
    this.auctionId = context.ids.auction(request.account, request.key);
    this.lane = this.auctionId;
  }

  prelude(): readonly Draft[] {
    return [];
  }

  reservation(now: Instant): ReserveRequest | undefined {
    if (isTooLate(this.request, now)) return undefined;
    const plan = this.plan(now);
    return plan.ok ? { account: this.request.account, need: plan.need, current: [] } : undefined;
  }

  decide(now: Instant, granted: ReserveOutcome | undefined): Decision | typeof AGAIN {
    if (isTooLate(this.request, now)) return this.refuse(TOO_LATE, now, granted);
    if (!this.context.policy.isKnown) return this.unsure(granted);
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
    return { drafts, answer: () => this.opened() };
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

  private refuse(refusal: Refusal, now: Instant, granted: ReserveOutcome | undefined): Decision {
    const { error, message } = refusal;
    const body = {
      type: 'CREATE_REJECTED' as const,
      data: { auction_id: this.auctionId, account_id: this.request.account, error, message },
    };
    return {
      drafts: isKept(refusal) ? [{ ...drafted(this.request, 'CREATE', now), body }] : [],
      answer: () => refusalReply(refusal),
      unused: this.unused(granted),
    };
  }

  /** The policy has grown too old since the create was taken in. */
  private unsure(granted: ReserveOutcome | undefined): Decision {
    return {
      drafts: [],
      answer: () => fault(503, 'auction_owner_unavailable'),
      unused: this.unused(granted),
    };
  }

  private unused(granted: ReserveOutcome | undefined): Release[] {
    return granted?.ok === true ? [{ account: this.request.account, hold: granted.hold }] : [];
  }
}
