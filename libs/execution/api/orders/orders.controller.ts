import { Injectable } from '@nestjs/common';
import { instantFromNanos } from '#libs/base/instant.js';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { Call, CallOf } from '#libs/edge/endpoint.js';
import type { JsonRecord } from '#libs/edge/decoding/strict-json.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { apiCallerOf } from '../caller.js';
import { isAlias, marked } from '../deprecations.js';
import { ExecutionParts } from '../execution-parts.js';
import type { Params } from '../params.js';
import { answering } from '../refusals.js';
import { takeSlot } from '../slots.js';
import { quoteFee } from './fee-quote.js';
import {
  amendOrder,
  batchOrders,
  cancelAfter,
  cancelAll,
  cancelByClientId,
  cancelOrder,
  feeQuote,
  getOrder,
  getOrderEvents,
  getOrderFills,
  listOrders,
  submitOrder,
} from './order-endpoints.js';
import type { DeskCall } from './order-desk.js';

/** The HTTP calls for orders. */
@Injectable()
export class OrdersController {
  constructor(private readonly parts: ExecutionParts) {}

  @Endpoint(submitOrder)
  submit(call: CallOf<typeof submitOrder>): Promise<Reply> {
    return this.parts.desk.submit(deskCall(call));
  }

  @Endpoint(cancelByClientId)
  cancelByClientId(call: CallOf<typeof cancelByClientId>): Promise<Reply> {
    return this.parts.desk.cancelByClientId(deskCall(call));
  }

  @Endpoint(cancelAll)
  cancelAll(call: CallOf<typeof cancelAll>): Promise<Reply> {
    return this.parts.desk.cancelAll(deskCall(call));
  }

  @Endpoint(cancelAfter)
  cancelAfter(call: CallOf<typeof cancelAfter>): Promise<Reply> {
    return this.parts.desk.cancelAfter(deskCall(call));
  }

  @Endpoint(batchOrders)
  batch(call: CallOf<typeof batchOrders>): Promise<Reply> {
    return this.parts.desk.batch(deskCall(call));
  }

  @Endpoint(cancelOrder)
  cancel(call: CallOf<typeof cancelOrder>): Promise<Reply> {
    return this.parts.desk.cancel(call.ids.order_id, deskCall(call));
  }

  @Endpoint(amendOrder)
  amend(call: CallOf<typeof amendOrder>): Promise<Reply> {
    return this.parts.desk.amend(call.ids.order_id, deskCall(call));
  }

  @Endpoint(listOrders)
  list(call: CallOf<typeof listOrders>): Promise<Reply> {
    return withDeprecation(call.query, () =>
      this.parts.orderReads.list(apiCallerOf(call.principal), call.requestId, call.query),
    );
  }

  @Endpoint(feeQuote)
  quote(call: CallOf<typeof feeQuote>): Promise<Reply> {
    const { venues, cells, clock } = this.parts;
    return withDeprecation(call.query, async () => {
      await takeSlot(cells, apiCallerOf(call.principal), call.requestId, 'fee_quotes');
      return { status: 200, body: await quoteFee(call.query, venues, instantFromNanos(clock.epochNanos())) };
    });
  }

  @Endpoint(getOrder)
  get(call: CallOf<typeof getOrder>): Promise<Reply> {
    const { orderReads } = this.parts;
    return answering(() => orderReads.order(apiCallerOf(call.principal), call.requestId, call.ids.order_id));
  }

  @Endpoint(getOrderFills)
  fills(call: CallOf<typeof getOrderFills>): Promise<Reply> {
    const { orderReads } = this.parts;
    return answering(() => orderReads.fills(apiCallerOf(call.principal), call.requestId, call.ids.order_id));
  }

  @Endpoint(getOrderEvents)
  events(call: CallOf<typeof getOrderEvents>): Promise<Reply> {
    const { orderReads } = this.parts;
    const { ids, query, requestId } = call;
    return answering(() => orderReads.events(apiCallerOf(call.principal), requestId, ids.order_id, query));
  }
}

async function withDeprecation(query: Params, work: () => Promise<Reply>): Promise<Reply> {
  return marked(await answering(work), isAlias(query.text('exchange_id')));
}

function deskCall({
  requestId,
  principal,
  body,
}: Pick<Call, 'requestId' | 'principal'> & { readonly body: JsonRecord }): DeskCall {
  return { requestId, caller: apiCallerOf(principal), record: body, channel: 'REST' };
}
