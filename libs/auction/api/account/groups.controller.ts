import { Inject, Injectable } from '@nestjs/common';
import { MakerGroups, type GroupResult } from '../../admission/policy/maker-groups.js';
import type { MakerGroup } from '../../admission/policy/policy-snapshot.js';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { CallOf } from '#libs/edge/endpoint.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { NOT_FOUND } from '../refusals.js';
import { createGroup, listGroups, removeGroup, replaceGroup } from './account-endpoints.js';
import { NEW_ID } from '../tokens.js';
import { GroupRules, INVALID_REQUEST, refusalOf } from './request-rules.js';

export type NewId = () => string;

/** An originator's own lists of makers. For any other caller they do not exist. */
@Injectable()
export class GroupsController {
  constructor(
    private readonly groups: MakerGroups,
    @Inject(NEW_ID) private readonly newId: NewId,
  ) {}

  @Endpoint(listGroups)
  async list({ principal }: CallOf<typeof listGroups>): Promise<Reply> {
    const groups = await this.groups.list(principal.account_id);
    return { status: 200, body: { groups: groups.map(shown) } };
  }

  @Endpoint(createGroup)
  async create({ principal, body }: CallOf<typeof createGroup>): Promise<Reply> {
    const refusal = refusalOf(new GroupRules(body));
    if (refusal !== undefined) return refusal;
    const group = { group_id: this.newId(), owner: principal.account_id, ...body };
    return answer(await this.groups.create(group), 201);
  }

  @Endpoint(replaceGroup)
  async replace({ principal, body, ids }: CallOf<typeof replaceGroup>): Promise<Reply> {
    const refusal = refusalOf(new GroupRules(body));
    if (refusal !== undefined) return refusal;
    const group = { group_id: ids.groupID, owner: principal.account_id, ...body };
    return answer(await this.groups.replace(group), 200);
  }

  @Endpoint(removeGroup)
  async remove({ principal, ids }: CallOf<typeof removeGroup>): Promise<Reply> {
    const removed = await this.groups.remove(principal.account_id, ids.groupID);
    return removed ? { status: 204 } : NOT_FOUND;
  }
}

function answer(result: GroupResult, status: number): Reply {
  if (result.ok) return { status, body: shown(result.group) };
  return result.fault === 'GROUP_UNKNOWN' ? NOT_FOUND : INVALID_REQUEST;
}

function shown({ group_id, name, market_maker_ids }: MakerGroup): object {
  return { group_id, name, market_maker_ids };
}
