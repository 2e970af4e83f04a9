import { Injectable } from '@nestjs/common';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { CallOf } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { shardOfId } from '../../protocol/routing.js';
import { passOn } from '../owner-router.js';
import { refuseReason } from './operator-bodies.js';
import { voidAuction } from './operator-endpoints.js';
import { orderOf } from './operator-order.js';
import { OwnerOrders } from './owner-orders.js';

/** Ends an auction that must not go on. */
@Injectable()
export class VoidsController {
  constructor(private readonly orders: OwnerOrders) {}

  @Endpoint(voidAuction)
  async void(call: CallOf<typeof voidAuction>): Promise<Reply> {
    const refusal = refuseReason(call.body);
    if (refusal !== undefined) return refusal;
    const id = call.ids.auctionID;
    const reply = await this.orders.give(shardOfId(id), { op: 'void', auction_id: id, ...orderOf(call) });
    if (reply.status !== 200) return passOn(reply);
    const { status } = JSON.parse(reply.body) as { readonly status: string };
    return { status: 200, body: { auction_id: id, status } };
  }
}
