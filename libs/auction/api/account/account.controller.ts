import { Inject, Injectable } from '@nestjs/common';
import { MakerProtection } from '../../admission/policy/maker-protection.js';
import { listMakers, ownPolicy } from '../../admission/policy/principals.js';
import type { Pool } from 'pg';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { CallOf } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { type Instant, instantFromNanos } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { homeShard } from '../../protocol/routing.js';
import { accountLimits } from './account-shapes.js';
import {
  getLimits,
  getMe,
  getProtection,
  listMarketMakers,
  putProtection,
  resetProtection,
} from './account-endpoints.js';
import { OwnerRouter, passOn } from '../owner-router.js';
import { ACCOUNT_SETTINGS, CLOCK, DATABASE } from '../tokens.js';
import { ProtectionRules, refusalOf } from './request-rules.js';

export interface AccountSettings {
  readonly limitsFactor: number;
}

/** What a caller may read and set of its own account. */
@Injectable()
export class AccountController {
  constructor(
    @Inject(DATABASE) private readonly pool: Pool,
    private readonly owners: OwnerRouter,
    private readonly protection: MakerProtection,
    @Inject(ACCOUNT_SETTINGS) private readonly settings: AccountSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Endpoint(getMe)
  async me({ principal }: CallOf<typeof getMe>): Promise<Reply> {
    const { display_name, entitled_venues } = await ownPolicy(this.pool, principal.account_id);
    const body = {
      account_id: principal.account_id,
      display_name,
      roles: [...principal.roles],
      capabilities: [...principal.capabilities],
      entitled_venues,
    };
    return { status: 200, body };
  }

  @Endpoint(getLimits)
  async limits({ principal, requestId }: CallOf<typeof getLimits>): Promise<Reply> {
    const account = principal.account_id;
    const reply = await this.owners.ask(homeShard(account), { op: 'limits', account, request_id: requestId });
    if (reply.status !== 200) return passOn(reply);
    const { available } = JSON.parse(reply.body) as { available: Record<string, number> };
    return { status: 200, body: { buckets: accountLimits(available, this.settings.limitsFactor) } };
  }

  @Endpoint(getProtection)
  async getProtection({ principal }: CallOf<typeof getProtection>): Promise<Reply> {
    return { status: 200, body: (await this.protection.settings(principal.account_id)) ?? {} };
  }

  @Endpoint(putProtection)
  async putProtection({ principal, body }: CallOf<typeof putProtection>): Promise<Reply> {
    if (body.window_ms === undefined) {
      await this.protection.switchOff(principal.account_id);
      return { status: 200, body };
    }
    const refusal = refusalOf(new ProtectionRules(body));
    if (refusal !== undefined) return refusal;
    await this.protection.change(principal.account_id, body, this.now());
    return { status: 200, body };
  }

  @Endpoint(resetProtection)
  async resetProtection({ principal }: CallOf<typeof resetProtection>): Promise<Reply> {
    await this.protection.reset(principal.account_id, this.now());
    return { status: 200, body: (await this.protection.settings(principal.account_id)) ?? {} };
  }

  @Endpoint(listMarketMakers)
  async makers(): Promise<Reply> {
    return { status: 200, body: { market_makers: await listMakers(this.pool) } };
  }

  private now(): Instant {
    return instantFromNanos(this.clock.epochNanos());
  }
}
