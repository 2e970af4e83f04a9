import { Injectable } from '@nestjs/common';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { CallOf } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { NOT_FOUND } from '../refusals.js';
import { passOn } from '../owner-router.js';
import { refuseReason } from './operator-bodies.js';
import { drainShard, listShards, resumeShard } from './operator-endpoints.js';
import { OwnerOrders } from './owner-orders.js';
import { ShardBoard } from './shard-board.js';
import type { OperatorOrder } from '../../protocol/protocol.js';

type ShardCall = CallOf<typeof drainShard>;

/** Shows the shards to operators, and drains and resumes them. */
@Injectable()
export class ShardsController {
  constructor(
    private readonly board: ShardBoard,
    private readonly orders: OwnerOrders,
  ) {}

  @Endpoint(listShards)
  async list(): Promise<Reply> {
    return { status: 200, body: { shards: await this.board.rows() } };
  }

  @Endpoint(drainShard)
  drain(call: ShardCall): Promise<Reply> {
    return this.order('drain', call);
  }

  @Endpoint(resumeShard)
  resume(call: CallOf<typeof resumeShard>): Promise<Reply> {
    return this.order('resume', call);
  }

  private async order(op: 'drain' | 'resume', call: ShardCall): Promise<Reply> {
    const shard = Number(call.ids.shard);
    const refusal = refuseReason(call.body);
    if (refusal !== undefined) return refusal;
    if (!this.board.has(shard)) return NOT_FOUND;
    const reply = await this.orders.give(shard, { op, ...orderOf(call) });
    if (reply.status !== 200) return passOn(reply);
    return { status: 200, body: await this.board.row(shard) };
  }
}

interface Ordering {
  readonly principal: { readonly account_id: string };
  readonly requestId: string;
  readonly body: { readonly reason?: string };
}

/** The operator and the reason of an order, from the token and the body. */
export function orderOf({ principal, requestId, body: { reason } }: Ordering): OperatorOrder {
  const order = { operator: principal.account_id, request_id: requestId };
  return reason === undefined ? order : { ...order, reason };
}
