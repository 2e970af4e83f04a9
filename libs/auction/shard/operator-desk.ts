import { checkReason } from '../rules/decide/open-check.js';
import { fault, type LinkReply, reply } from '#libs/link/link-protocol.js';
import type { OwnerRequest } from '../protocol/protocol.js';
import type { AuctionBook } from './memory/auction-book.js';
import type { Conditions } from '#libs/shard/conditions/conditions.js';
import type { CompletedAuctions } from './ports.js';
import { type AuctionTask, type Submit, UNAVAILABLE } from './auction-task.js';
import { OrderedVoidTask, ShiftTask } from './tasks/operator-tasks.js';
import type { Settle, ShardContext } from './tasks/shard-context.js';

type Request<Op extends OwnerRequest['op']> = Extract<OwnerRequest, { op: Op }>;

export interface OperatorDeskPorts {
  readonly context: ShardContext;
  readonly book: AuctionBook;
  readonly completed: CompletedAuctions;
  readonly conditions: Conditions;
  readonly submit: Submit;
  /** The shard's status, as operators see it. */
  readonly status: () => LinkReply;
}

const INVALID = fault(400, 'invalid_request');
const NOT_FOUND = fault(404, 'auction_not_found');
const NOT_OPEN = fault(422, 'AUCTION_NOT_OPEN', 'The auction is not open.');

/** Handles operators' orders. Every order that changes something is journaled with its operator. */
export class OperatorDesk {
  constructor(private readonly ports: OperatorDeskPorts) {}

  async void(order: Request<'void'>): Promise<LinkReply> {
    if (order.reason === undefined || !isReason(order.reason)) return INVALID;
    const entry = this.ports.book.find(order.auction_id);
    if (entry?.durable === undefined) return this.voidCompleted(order.auction_id);
    return this.run((settle) => new OrderedVoidTask(this.ports.context, entry, order, settle));
  }

  async shift(order: Request<'drain' | 'resume'>): Promise<LinkReply> {
    if (!isReason(order.reason)) return INVALID;
    // A process that is stopping cannot resume. The next process of this shard starts without the drain.
    if (this.ports.conditions.leaving) return UNAVAILABLE;
    const done = await this.run((settle) => new ShiftTask(this.ports.conditions, order, settle));
    return done.status === 200 ? this.ports.status() : done;
  }

  /** The auction is not in memory: it is over, or it never existed. */
  private async voidCompleted(auctionId: string): Promise<LinkReply> {
    const status = await this.ports.completed.statusOf(auctionId);
    if (status === undefined) return NOT_FOUND;
    return status === 'VOIDED' ? reply(200, { auction_id: auctionId, status }) : NOT_OPEN;
  }

  private run(make: (settle: Settle) => AuctionTask): Promise<LinkReply> {
    return new Promise((resolve) => {
      if (!this.ports.submit(make(resolve))) resolve(UNAVAILABLE);
    });
  }
}

function isReason(reason: string | undefined): boolean {
  return reason !== '' && checkReason(reason) === undefined;
}
