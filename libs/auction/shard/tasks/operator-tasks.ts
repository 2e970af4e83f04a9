import type { DomainEvent } from '../../rules/events.js';
import type { Instant } from '#libs/base/instant.js';
import { decideVoid } from '../../rules/decide/void.js';
import { fault, reply, type LinkReply } from '#libs/link/link-protocol.js';
import type { OwnerRequest, OperatorOrder } from '../../protocol/protocol.js';
import type { AuctionEntry } from '../memory/auction-book.js';
import type { Conditions } from '#libs/shard/conditions/conditions.js';
import type { AuctionTask, AuctionTaskResult } from '../auction-task.js';
import { draftsOf, eventsOf } from './drafts.js';
import { dueEvents } from './due-events.js';
import type { Settle, ShardContext } from './shard-context.js';

const DONE: LinkReply = reply(200, {});

/** Voids an auction for an operator. A repeat is answered with the auction's status. */
export class OrderedVoidTask implements AuctionTask {
  readonly orderingKey: string;

  constructor(
    private readonly context: ShardContext,
    private readonly entry: AuctionEntry,
    private readonly order: OperatorOrder,
    readonly settle: Settle,
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
    const { head } = this.entry;
    const { operator, reason, request_id: requestId } = this.order;
    const why = reason === undefined ? {} : { reason };
    const decided = decideVoid(head, { by: 'OPERATOR', operator, ...why }, { now });
    if (decided.ok) {
      const drafts = draftsOf(head, decided.events).map((draft) => ({ ...draft, requestId }));
      return { events: eventsOf(drafts), reply: () => this.statusReply() };
    }
    if (head.status === 'VOIDED') return { events: [], reply: () => this.statusReply() };
    return { events: [], reply: () => fault(decided.status, decided.error, decided.message) };
  }

  private statusReply(): LinkReply {
    return reply(200, { auction_id: this.entry.id, status: this.entry.head.status });
  }
}

/** Drains or resumes the shard. An order that changes nothing is not journaled. */
export class ShiftTask implements AuctionTask {
  readonly orderingKey = 'shift';

  constructor(
    private readonly conditions: Conditions,
    private readonly order: Extract<OwnerRequest, { op: 'drain' | 'resume' }>,
    readonly settle: Settle,
  ) {}

  prelude(): readonly DomainEvent[] {
    return [];
  }

  reservation(): undefined {
    return undefined;
  }

  decide(now: Instant): AuctionTaskResult {
    const { op, operator, reason, request_id: requestId } = this.order;
    const isChange = op === 'drain' ? this.conditions.drain() : this.conditions.resume();
    const data = reason === undefined ? { operator } : { operator, reason };
    const type = op === 'drain' ? 'SHARD_DRAINED' : 'SHARD_RESUMED';
    return {
      events: isChange ? eventsOf([{ at: now, requestId, body: { type, data } }]) : [],
      reply: () => DONE,
    };
  }
}
