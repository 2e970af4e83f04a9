import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { MAX_AUDIENCE } from '../../admission/policy/audience.js';
import { entitlementOf } from '../../admission/policy/entitlement.js';
import { MAX_GROUPS, MAX_MEMBERS } from '../../admission/policy/maker-groups.js';
import { OperatorActions } from '../../admission/policy/operator-actions.js';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { CallOf } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { NOT_FOUND } from '../refusals.js';
import { homeShard } from '../../protocol/routing.js';
import type { AccountSettings } from '../account/account.controller.js';
import { accountLimits } from '../account/account-shapes.js';
import { OwnerRouter, passOn } from '../owner-router.js';
import { ACCOUNT_SETTINGS, DATABASE } from '../tokens.js';
import {
  actionCursor,
  getAccountLimits,
  getServiceLimits,
  listOperatorActions,
} from './operator-endpoints.js';
import { HaltsController, VoidsController } from './halts.controller.js';
import { ShardsController } from './shards.controller.js';

const BOUNDS = {
  audience_makers: MAX_AUDIENCE,
  groups_per_account: MAX_GROUPS,
  makers_per_group: MAX_MEMBERS,
};

/** What operators read: the log of their actions, and the limits in force. */
@Injectable()
export class OperatorReadsController {
  constructor(
    private readonly owners: OwnerRouter,
    private readonly book: OperatorActions,
    @Inject(DATABASE) private readonly pool: Pool,
    @Inject(ACCOUNT_SETTINGS) private readonly settings: AccountSettings,
  ) {}

  @Endpoint(listOperatorActions)
  async actions({ query }: CallOf<typeof listOperatorActions>): Promise<Reply> {
    const entries = await this.book.page(query.limit + 1, query.cursor?.e);
    const actions = entries.slice(0, query.limit);
    const last = actions.at(-1);
    if (last === undefined || entries.length <= query.limit) return { status: 200, body: { actions } };
    return { status: 200, body: { actions, next_cursor: actionCursor.encode({ e: last.entry }) } };
  }

  @Endpoint(getServiceLimits)
  limits(): Reply {
    const { limitsFactor } = this.settings;
    const buckets = accountLimits({}, limitsFactor).map(({ bucket, scope, rate_per_second, burst }) => {
      return { bucket, scope, rate_per_second, burst };
    });
    return { status: 200, body: { limits_factor: limitsFactor, buckets, bounds: BOUNDS } };
  }

  @Endpoint(getAccountLimits)
  async ofAccount({ ids, requestId }: CallOf<typeof getAccountLimits>): Promise<Reply> {
    const account = ids.accountID;
    const entitlement = await entitlementOf(this.pool, account);
    if (entitlement === undefined) return NOT_FOUND;
    const reply = await this.owners.ask(homeShard(account), { op: 'limits', account, request_id: requestId });
    if (reply.status !== 200) return passOn(reply);
    const { available } = JSON.parse(reply.body) as { available: Record<string, number> };
    const { limitsFactor } = this.settings;
    const buckets = accountLimits(available, limitsFactor);
    return { status: 200, body: { ...entitlement, limits_factor: limitsFactor, buckets } };
  }
}

/** For callers who are not operators these endpoints do not exist. */
export const OPERATOR_CONTROLLERS = [
  ShardsController,
  HaltsController,
  VoidsController,
  OperatorReadsController,
];
