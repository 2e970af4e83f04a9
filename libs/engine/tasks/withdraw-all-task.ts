import type { Instant } from '#libs/auction/instant.js';
import { activeQuote } from '#libs/auction/state.js';
import { decideWithdraw } from '#libs/auction/withdraw.js';
import { reply, type LinkRequest } from '#libs/owner-link/protocol.js';
import type { Entry } from '../auction-book.js';
import type { Decision, Draft, Task } from '../task.js';
import { draftsOf, dueDrafts } from './due-events.js';
import { drafted, type Settle, type ShardContext } from './shard-context.js';

export type WithdrawAllRequest = Extract<LinkRequest, { op: 'withdraw_all' }>;

interface NotWithdrawable {
  readonly quote_id: string;
  readonly error: string;
}

/** This shard's part of taking back all of a maker's quotes. */
export class WithdrawAllTask implements Task {
  readonly lane: string;

  constructor(
    private readonly context: ShardContext,
    private readonly request: WithdrawAllRequest,
    readonly settle: Settle,
  ) {
    this.lane = `withdraw-all/${request.account}/${request.key}`;
  }

  prelude(now: Instant): readonly Draft[] {
    return this.quoted().flatMap((entry) => dueDrafts(entry.head, now, this.context));
  }

  reservation(): undefined {
    return undefined;
  }

  decide(now: Instant): Decision {
    const withdrawals: Draft[] = [];
    const withdrawn: string[] = [];
    const notWithdrawable: NotWithdrawable[] = [];
    for (const entry of this.quoted()) {
      const quote = activeQuote(entry.head, this.request.account);
      if (quote === undefined) continue;
      const decided = decideWithdraw(entry.head, { quote_id: quote.quote_id, by: 'MARKET_MAKER' }, { now });
      if (decided.ok) {
        withdrawals.push(...draftsOf(entry.head, decided.events));
        withdrawn.push(quote.quote_id);
      } else {
        notWithdrawable.push({ quote_id: quote.quote_id, error: decided.error });
      }
    }
    const result = { withdrawn, not_withdrawable: notWithdrawable };
    const record: Draft = {
      ...drafted(this.request, 'WITHDRAW_ALL', now),
      body: { type: 'ALL_WITHDRAWN', data: { account_id: this.request.account, ...result } },
    };
    return { drafts: [record, ...withdrawals], answer: () => reply(200, result) };
  }

  /** In the order of the ids, so that equal shards give equal journals. */
  private quoted(): Entry[] {
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
