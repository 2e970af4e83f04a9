import { Inject, Injectable } from '@nestjs/common';
import { Halts } from '../../admission/policy/halts.js';
import { instantFromNanos, type Instant } from '#libs/base/instant.js';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { CallOf } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { NOT_FOUND } from '../refusals.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { CLOCK, NEW_ID } from '../tokens.js';
import { refuseHalt, UNKNOWN_TARGET } from './operator-bodies.js';
import { imposeHalt, liftHalt, listHalts } from './operator-endpoints.js';
import { PolicyInForce } from './policy-in-force.js';

/** Halts: part of the policy by which every owner judges. The answer comes when they do. */
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
