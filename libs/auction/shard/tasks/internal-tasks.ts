import type { EndRequest } from '../../rules/commands.js';
import { decideExecution, type ExecutionReport } from '../../rules/decide/execution.js';
import type { DomainEvent, WithdrawnBy } from '../../rules/events.js';
import type { Instant } from '#libs/base/instant.js';
import { activeQuote } from '../../rules/state.js';
import { decideVoid } from '../../rules/decide/void.js';
import { decideWithdraw } from '../../rules/decide/withdraw.js';
import { reply, type LinkReply } from '#libs/link/link-protocol.js';
import type { AuctionEntry } from '../memory/auction-book.js';
import type { AuctionTask, AuctionTaskResult } from '../auction-task.js';
import { draftsOf, eventsOf, type Draft } from './drafts.js';
import { dueEvents } from './due-events.js';
import type { Settle, ShardContext } from './shard-context.js';

const DONE: LinkReply = reply(200, {});
const nothing: Settle = () => undefined;

/** A task on one auction that no caller requested and that needs no reservation. */
export abstract class InternalTask implements AuctionTask {
  readonly orderingKey: string;

  constructor(
    protected readonly context: ShardContext,
    protected readonly entry: AuctionEntry,
    readonly settle: Settle = nothing,
  ) {
    this.orderingKey = `${entry.id}/`;
  }

  prelude(now: Instant): readonly DomainEvent[] {
    return dueEvents(this.entry, now, this.context);
  }

  reservation(): undefined {
    return undefined;
  }

  decide(now: Instant): AuctionTaskResult {
    return { events: eventsOf(this.drafts(now)), reply: () => DONE };
  }

  protected abstract drafts(now: Instant): readonly Draft[];
}

/** Applies what is due. Expiries and the close are in the prelude, as in every task. */
export class DueTask extends InternalTask {
  protected drafts(): readonly Draft[] {
    return [];
  }
}

/** Withdraws a maker's quote without a command of the maker, for example because its protection has tripped. */
export class PullQuoteTask extends InternalTask {
  constructor(
    context: ShardContext,
    entry: AuctionEntry,
    private readonly maker: string,
    private readonly by: WithdrawnBy,
  ) {
    super(context, entry);
  }

  protected drafts(now: Instant): readonly Draft[] {
    const quote = activeQuote(this.entry.head, this.maker);
    if (quote === undefined) return [];
    const decided = decideWithdraw(this.entry.head, { quote_id: quote.quote_id, by: this.by }, { now });
    return decided.ok ? draftsOf(this.entry.head, decided.events) : [];
  }
}

export class VoidTask extends InternalTask {
  constructor(
    context: ShardContext,
    entry: AuctionEntry,
    private readonly request: EndRequest,
    settle: Settle = nothing,
  ) {
    super(context, entry, settle);
  }

  protected drafts(now: Instant): readonly Draft[] {
    const decided = decideVoid(this.entry.head, this.request, { now });
    return decided.ok ? draftsOf(this.entry.head, decided.events) : [];
  }
}

/** Applies a report on the execution of an award. A report without news changes nothing. */
export class ExecutionTask extends InternalTask {
  constructor(
    context: ShardContext,
    entry: AuctionEntry,
    private readonly report: ExecutionReport,
    settle: Settle = nothing,
  ) {
    super(context, entry, settle);
  }

  protected drafts(now: Instant): readonly Draft[] {
    const decided = decideExecution(this.entry.head, this.report, { now });
    return decided.ok ? draftsOf(this.entry.head, decided.events) : [];
  }
}
