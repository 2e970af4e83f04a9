import type { ReserveOutcome, ReserveRequest } from '../../admission/reservation-desk.js';
import { holdOf } from '../../rules/held.js';
import type { AuctionEventBody, DomainEvent, QuoteOperation, ShardEventBody } from '../../rules/events.js';
import type { Instant } from '#libs/base/instant.js';
import { quoteView } from '../../rules/told/quote-view.js';
import type { Rejection } from '#libs/base/rejection.js';
import { type AuctionState, bookOf, findQuote } from '../../rules/state.js';
import type { Hold } from '../../rules/terms.js';
import { isOverFor } from '../../rules/told/viewer.js';
import { fault, type LinkReply, reply } from '#libs/link/link-protocol.js';
import type { CallerIdentity, CommandIdentity } from '../../protocol/protocol.js';
import type { AuctionEntry } from '../memory/auction-book.js';
import { beyond, larger } from '../releases.js';
import { AGAIN } from '#libs/shard/task.js';
import {
  type AuctionTask,
  type AuctionTaskResult,
  isKept,
  refusalReply,
  type TaskRefusal,
} from '../auction-task.js';
import { type Draft, eventsOf } from './drafts.js';
import { dueEvents, isPastClose } from './due-events.js';
import { drafted, isTooLate, type Settle, type ShardContext, TOO_LATE } from './shard-context.js';

export type QuoteRequest = { readonly auction_id: string } & CallerIdentity & CommandIdentity;

/** The part in which submit, revise and withdraw differ. */
export interface QuoteRule {
  readonly operation: QuoteOperation;
  readonly quoteId: string | undefined;
  /** Status of the first reply. */
  readonly created: 200 | 201;
  plan(state: AuctionState, now: Instant): QuotePlan | Rejection;
}

export interface QuotePlan {
  readonly ok: true;
  readonly quoteId: string;
  /** Absent where the command needs no capacity. */
  readonly reserve?: Pick<ReserveRequest, 'need' | 'current'>;
  body(hold: readonly Hold[]): AuctionEventBody;
  /** An event to journal before the quote's. Called only when the quote's event is certain to follow. */
  before?(): ShardEventBody | undefined;
}

export class QuoteTask implements AuctionTask {
  readonly orderingKey: string;

  constructor(
    private readonly context: ShardContext,
    private readonly entry: AuctionEntry,
    private readonly request: QuoteRequest,
    private readonly rule: QuoteRule,
    readonly settle: Settle,
  ) {
    this.orderingKey = `${request.auction_id}/${request.account}`;
  }

  prelude(now: Instant): readonly DomainEvent[] {
    return dueEvents(this.entry, now, this.context);
  }

  reservation(now: Instant): ReserveRequest | undefined {
    if (isTooLate(this.request, now)) return undefined;
    const plan = this.rule.plan(this.entry.head, now);
    if (!plan.ok || plan.reserve === undefined) return undefined;
    return { account: this.request.account, ...plan.reserve, forQuote: true };
  }

  decide(now: Instant, granted: ReserveOutcome | undefined): AuctionTaskResult | typeof AGAIN {
    const unreliable =
      this.rule.operation === 'WITHDRAW' ? undefined : unreliableReply(this.context, this.request.account);
    if (unreliable !== undefined)
      return { events: [], reply: () => unreliable, unused: this.unused(granted) };
    if (isTooLate(this.request, now)) return this.refuse(TOO_LATE, now, granted);
    const plan = this.rule.plan(this.entry.head, now);
    if (!plan.ok) return this.refuse(plan, now, granted);
    if (plan.reserve === undefined) return this.accept(plan, [], now);
    if (granted === undefined) return AGAIN;
    if (!granted.ok) return this.refuse(granted, now, granted);
    return this.accept(plan, granted.hold, now);
  }

  private accept(plan: QuotePlan, hold: readonly Hold[], now: Instant): AuctionTaskResult {
    const body = plan.body(hold);
    const head = drafted(this.request, this.rule.operation, now);
    const before = plan.before?.();
    return {
      events: eventsOf([
        ...(before === undefined ? [] : [{ at: now, body: before }]),
        { ...head, body, auctionId: this.entry.id },
      ]),
      reply: () => this.quoteReply(plan.quoteId),
    };
  }

  private quoteReply(quoteId: string): LinkReply {
    const quote = findQuote(this.entry.head, quoteId);
    if (quote === undefined) return fault(500, 'internal_error');
    return reply(this.rule.created, quoteView(this.entry.head, quote));
  }

  private refuse(refusal: TaskRefusal, now: Instant, granted: ReserveOutcome | undefined): AuctionTaskResult {
    const { error, message } = refusal;
    return {
      events: isKept(refusal) && this.isJournaled(now) ? eventsOf([this.rejection(error, message, now)]) : [],
      reply: () => refusalReply(refusal),
      unused: this.unused(granted),
    };
  }

  /** A refusal is neither journaled nor stored after the auction is over for the caller, or above the maker's command limit. */
  private isJournaled(now: Instant): boolean {
    const { head } = this.entry;
    if (commandsOf(head, this.request.account) >= this.context.commandsPerMakerLimit) return false;
    return (
      !isPastClose(head, now) && !isOverFor(head, { account_id: this.request.account, role: 'MARKET_MAKER' })
    );
  }

  private rejection(error: string, message: string, now: Instant): Draft {
    const { operation, quoteId } = this.rule;
    const data = { maker: this.request.account, operation, error, message };
    return {
      ...drafted(this.request, operation, now),
      auctionId: this.entry.id,
      body: { type: 'QUOTE_REJECTED', data: quoteId === undefined ? data : { ...data, quote_id: quoteId } },
    };
  }

  private unused(granted: ReserveOutcome | undefined) {
    if (granted?.ok !== true) return [];
    const current = this.currentHold();
    return [{ account: this.request.account, hold: beyond(larger(current, granted.hold), current) }];
  }

  private currentHold(): readonly Hold[] {
    const quoteId = this.rule.quoteId;
    return quoteId === undefined ? [] : holdOf(findQuote(this.entry.head, quoteId));
  }
}

/** The reply if the clock or the policy became unreliable after admission. Nothing lasting may be decided then. */
function unreliableReply({ clockIsSound, policy }: ShardContext, maker: string): LinkReply | undefined {
  // With an unsound clock due events are not journaled, so no event may be decided on top of them.
  if (!clockIsSound()) return fault(503, 'clock_unhealthy');
  return policy.isKnownFor(maker) ? undefined : fault(503, 'auction_owner_unavailable');
}

/** How many commands of this maker the auction has already recorded. */
export function commandsOf(state: AuctionState, maker: string): number {
  return bookOf(state, maker)?.quote_events ?? 0;
}
