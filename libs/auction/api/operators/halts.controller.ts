import { Inject, Injectable } from '@nestjs/common';
import { Halts } from '../../admission/policy/halts.js';
import { type Instant, instantFromNanos } from '#libs/base/instant.js';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { CallOf } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { NOT_FOUND } from '../refusals.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { CLOCK, NEW_ID } from '../tokens.js';
import { refuseHalt, refuseReason, UNKNOWN_TARGET } from './operator-bodies.js';
import { imposeHalt, liftHalt, listHalts, voidAuction } from './operator-endpoints.js';
import { PolicyInForce } from './policy-in-force.js';
import { shardOfId } from '../../protocol/routing.js';
import { passOn } from '../owner-router.js';
import { orderOf } from './shards.controller.js';
import { OwnerOrders } from './owner-orders.js';

/** Halts are part of the policy that every owner applies. A call is answered once the owners apply the change. */
@Injectable()
export class HaltsController {
  constructor(
    private readonly halts: Halts,
    private readonly inForce: PolicyInForce,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(NEW_ID) private readonly newId: () => string,
  ) {}

  @Endpoint(listHalts)
  async list(): Promise<Reply> {
    return { status: 200, body: { halts: await this.halts.list() } };
  }

  @Endpoint(imposeHalt)
  async impose({ body, principal, requestId }: CallOf<typeof imposeHalt>): Promise<Reply> {
    const refusal = refuseHalt(body);
    if (refusal !== undefined) return refusal;
    const halt = { halt_id: this.newId(), ...body, by: principal.account_id, created_at: this.now() };
    const result = await this.halts.impose(halt, requestId);
    if (!result.ok) return UNKNOWN_TARGET;
    await this.inForce.everywhere(result.version);
    return { status: result.repeated ? 200 : 201, body: result.halt };
  }

  @Endpoint(liftHalt)
  async lift({ ids, principal, requestId }: CallOf<typeof liftHalt>): Promise<Reply> {
    const lifting = { by: principal.account_id, request_id: requestId, at: this.now() };
    const version = await this.halts.lift(ids.haltID, lifting);
    if (version === undefined) return NOT_FOUND;
    await this.inForce.everywhere(version);
    return { status: 204 };
  }

  private now(): Instant {
    return instantFromNanos(this.clock.epochNanos());
  }
}

/** Voids an auction that must not go on. */
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
