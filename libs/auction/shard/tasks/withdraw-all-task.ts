import type { DomainEvent } from '../../rules/events.js';
import type { Instant } from '#libs/base/instant.js';
import { activeQuote } from '../../rules/state.js';
import { decideWithdraw } from '../../rules/decide/withdraw.js';
import { reply } from '#libs/link/link-protocol.js';
import type { OwnerRequest } from '../../protocol/protocol.js';
import type { AuctionEntry } from '../memory/auction-book.js';
import { refusalReply, type AuctionTask, type AuctionTaskResult } from '../auction-task.js';
import { draftsOf, eventsOf, type Draft } from './drafts.js';
import { dueEvents } from './due-events.js';
import { drafted, isTooLate, TOO_LATE, type Settle, type ShardContext } from './shard-context.js';

export type WithdrawAllRequest = Extract<OwnerRequest, { op: 'withdraw_all' }>;

const DONE = reply(200, {});

interface NotWithdrawable {
  readonly quote_id: string;
  readonly error: string;
}

/** Quotes in one append. The size of an append is limited, the number of a maker's quotes is not. */
const BATCH_SIZE = 500;

/** Withdraws all quotes of a maker on this shard. The reply is recorded after the last withdrawal. */
export class WithdrawAllTask implements AuctionTask {
  readonly orderingKey: string;
  private readonly withdrawn: string[] = [];
  private readonly notWithdrawable = new Map<string, string>();
  private isBegun = false;

  constructor(
    private readonly context: ShardContext,
    private readonly request: WithdrawAllRequest,
    readonly settle: Settle,
  ) {
    this.orderingKey = `withdraw-all/${request.account}/${request.key}`;
  }

  prelude(now: Instant): readonly DomainEvent[] {
    return this.auctionsWithQuote().flatMap((entry) => dueEvents(entry, now, this.context));
  }

  reservation(): undefined {
    return undefined;
  }

  decide(now: Instant): AuctionTaskResult {
    if (this.isRefused(now)) return { events: [], reply: () => refusalReply(TOO_LATE) };
    this.isBegun = true;
    const withdrawals: Draft[] = [];
    for (const entry of this.auctionsWithQuote()) {
      if (withdrawals.length >= BATCH_SIZE)
        return { events: eventsOf(withdrawals), reply: () => DONE, unfinished: true };
      withdrawals.push(...this.withdraw(entry, now));
    }
    const result = { withdrawn: this.withdrawn, not_withdrawable: this.refusals() };
    const record: Draft = {
      ...drafted(this.request, 'WITHDRAW_ALL', now),
      body: { type: 'ALL_WITHDRAWN', data: { account_id: this.request.account, ...result } },
    };
    return { events: eventsOf([...withdrawals, record]), reply: () => reply(200, result) };
  }

  /**
   * The shard that meters the call decides whether it is in time. The other shards carry it out, however late it reaches them. A
   * call that has begun is finished.
   */
  private isRefused(now: Instant): boolean {
    return this.request.metered && !this.isBegun && isTooLate(this.request, now);
  }

  private withdraw(entry: AuctionEntry, now: Instant): Draft[] {
    const quote = activeQuote(entry.head, this.request.account);
    if (quote === undefined || this.notWithdrawable.has(quote.quote_id)) return [];
    const decided = decideWithdraw(entry.head, { quote_id: quote.quote_id, by: 'MARKET_MAKER' }, { now });
    if (!decided.ok) {
      this.notWithdrawable.set(quote.quote_id, decided.error);
      return [];
    }
    this.withdrawn.push(quote.quote_id);
    return draftsOf(entry.head, decided.events);
  }

  private refusals(): NotWithdrawable[] {
    return [...this.notWithdrawable].map(([quoteId, error]) => ({ quote_id: quoteId, error }));
  }

  /** Ordered by id, so that equal shards write equal journals. */
  private auctionsWithQuote(): AuctionEntry[] {
    const { account, auction_ids: ids, venue } = this.request;
    const wanted = ids === undefined ? undefined : new Set(ids);
    return [...this.context.book.of(account)]
      .filter(
        (entry) =>
          activeQuote(entry.head, account) !== undefined &&
          (wanted?.has(entry.id) ?? true) &&
          (venue === undefined || entry.head.terms.routes.some((route) => route.venue === venue)),
      )
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}
