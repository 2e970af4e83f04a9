import type { Pool, PoolClient } from 'pg';
import { withTransaction } from '#libs/platform/database/postgres.js';
import type { MakerGroup } from './policy-snapshot.js';

export const MAX_GROUPS = 100;
export const MAX_MEMBERS = 256;

export type GroupFault = 'TOO_MANY_GROUPS' | 'TOO_MANY_MEMBERS' | 'MEMBER_UNKNOWN' | 'GROUP_UNKNOWN';
export type GroupResult =
  { readonly ok: true; readonly group: MakerGroup } | { readonly ok: false; readonly fault: GroupFault };

const GROUP = `
  select group_id, owner, name,
    array(select account_id from control.group_members m where m.group_id = g.group_id order by 1) as market_maker_ids
  from control.groups g`;

/** An originator's named lists of makers. For any other account they do not exist. */
export class MakerGroups {
  constructor(private readonly pool: Pool) {}

  async list(owner: string): Promise<readonly MakerGroup[]> {
    const text = `${GROUP} where owner = $1 order by group_id`;
    return (await this.pool.query<MakerGroup>({ name: 'groups', text, values: [owner] })).rows;
  }

  create(group: MakerGroup): Promise<GroupResult> {
    return this.change(group, async (client) => {
      const { rows } = await client.query<{ count: number }>(
        'select count(*)::int as count from control.groups where owner = $1',
        [group.owner],
      );
      if ((rows[0]?.count ?? 0) >= MAX_GROUPS) return 'TOO_MANY_GROUPS';
      await client.query('insert into control.groups (group_id, owner, name) values ($1, $2, $3)', [
        group.group_id,
        group.owner,
        group.name,
      ]);
      return undefined;
    });
  }

  replace(group: MakerGroup): Promise<GroupResult> {
    return this.change(group, async (client) => {
      const { rowCount } = await client.query(
        'update control.groups set name = $3 where group_id = $1 and owner = $2',
        [group.group_id, group.owner, group.name],
      );
      return rowCount === 1 ? undefined : 'GROUP_UNKNOWN';
    });
  }

  async remove(owner: string, groupId: string): Promise<boolean> {
    const { rowCount } = await this.pool.query(
      'delete from control.groups where group_id = $1 and owner = $2',
      [groupId, owner],
    );
    return rowCount === 1;
  }

  /** Serializes the changes of one owner, so that the limit on groups holds. */
  private async change(
    group: MakerGroup,
    enter: (client: PoolClient) => Promise<GroupFault | undefined>,
  ): Promise<GroupResult> {
    const members = [...new Set(group.market_maker_ids)].sort();
    if (members.length > MAX_MEMBERS) return { ok: false, fault: 'TOO_MANY_MEMBERS' };
    return withTransaction(this.pool, 'read committed', async (client): Promise<GroupResult> => {
      await client.query('select pg_advisory_xact_lock(hashtextextended($1, 22))', [group.owner]);
      const fault = (await unknownMember(client, members)) ?? (await enter(client));
      if (fault !== undefined) return { ok: false, fault };
      await client.query('delete from control.group_members where group_id = $1', [group.group_id]);
      await client.query(
        'insert into control.group_members (group_id, account_id) select $1, unnest($2::text[])',
        [group.group_id, members],
      );
      return { ok: true, group: { ...group, market_maker_ids: members } };
    });
  }
}

async function unknownMember(
  client: PoolClient,
  members: readonly string[],
): Promise<GroupFault | undefined> {
  const { rows } = await client.query<{ known: number }>(
    'select count(*)::int as known from control.principals where is_maker and account_id = any($1)',
    [members],
  );
  return rows[0]?.known === members.length ? undefined : 'MEMBER_UNKNOWN';
}
