import type { Reply } from '#libs/edge/reply/reply.js';
import type { ApiCaller } from '#libs/identity/api-keys/authenticate.js';
import { orderRecord } from '../../rules/record.js';
import { orderCaller } from '../caller.js';
import { venueOfOrder, type CellAnswer, type Cells } from '../cells.js';
import type { Params } from '../params.js';
import type { ProjectedReads } from '../reads.js';
import { envelope, refuse, RefusedCall } from '../refusals.js';
import { takeSlot } from '../slots.js';
import { orderSelection } from './order-list.js';

const MOST_EVENTS = 1_000;
const USUAL_EVENTS = 200;

/** Reads orders. A single order comes from its cell, so that a write is visible at once, or else from the projection. */
export class OrderReads {
  constructor(
    private readonly cells: Cells,
    private readonly reads: ProjectedReads,
  ) {}

  async list(caller: ApiCaller, requestId: string, query: Params): Promise<Reply> {
    const selection = orderSelection(query);
    await takeSlot(this.cells, caller, requestId, 'reads');
    const page = await this.reads.orders.list(caller.user_id, selection);
    if (page === 'no such order') throw query.wrong('before_id');
    return { status: 200, body: page };
  }

  order(caller: ApiCaller, requestId: string, order_id: string): Promise<Reply> {
    return this.one(caller, requestId, order_id, {
      ask: (id) => this.cells.ask<'order'>({ ...orderCaller(caller, requestId), op: 'order', order_id: id }),
      project: async (id) => {
        const state = await this.reads.orders.find(caller.user_id, id);
        return state === undefined ? undefined : orderRecord(state, 'full');
      },
    });
  }

  fills(caller: ApiCaller, requestId: string, order_id: string): Promise<Reply> {
    return this.one(caller, requestId, order_id, {
      ask: (id) =>
        this.cells.ask<'order_fills'>({ ...orderCaller(caller, requestId), op: 'order_fills', order_id: id }),
      project: async (id) => {
        const state = await this.reads.orders.find(caller.user_id, id);
        if (state === undefined) return undefined;
        return { fills: await this.reads.fills.ofOrder(caller.user_id, id) };
      },
    });
  }

  events(caller: ApiCaller, requestId: string, order_id: string, query: Params): Promise<Reply> {
    const after_seq = query.integer('after_seq', 0, Number.MAX_SAFE_INTEGER, 0);
    const limit = query.integer('limit', 1, MOST_EVENTS, USUAL_EVENTS);
    return this.one(caller, requestId, order_id, {
      ask: (id) =>
        this.cells.ask<'order_events'>({
          ...orderCaller(caller, requestId),
          ...{ op: 'order_events', order_id: id, after_seq, limit },
        }),
      project: (id) => this.reads.events.timeline(caller.user_id, id, after_seq, limit),
    });
  }

  private async one(
    caller: ApiCaller,
    requestId: string,
    order_id: string,
    from: {
      ask(id: string): Promise<CellAnswer<'order' | 'order_fills' | 'order_events'>>;
      project(id: string): Promise<object | undefined>;
    },
  ): Promise<Reply> {
    const id = order_id.toLowerCase();
    if (venueOfOrder(id) === undefined) throw notFound();
    await takeSlot(this.cells, caller, requestId, 'reads');
    const answer = await from.ask(id);
    if (answer.ok) return { status: 200, body: answer.value };
    if (answer.status !== 404 && answer.status !== 503) {
      throw new RefusedCall(envelope(answer.status, answer.refusal));
    }
    const projected = await from.project(id);
    if (projected !== undefined) return { status: 200, body: projected };
    // The silent cell may have the order although the projection does not have it yet, so 404 would be wrong.
    throw answer.status === 503 ? new RefusedCall(envelope(answer.status, answer.refusal)) : notFound();
  }
}

function notFound(): ReturnType<typeof refuse> {
  return refuse('ORDER_NOT_FOUND', 'You have no such order');
}
