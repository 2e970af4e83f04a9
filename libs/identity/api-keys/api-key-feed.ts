import type { Pool } from 'pg';
import { quickly } from '../quick-query.js';
import { KNOWN_KEY, type KnownKey } from './api-key-rows.js';

export interface ApiKeyNews {
  readonly keys: number;
  readonly access: number;
  /** The database's time in seconds, from which the next query looks for blocked addresses. */
  readonly at: number;
  readonly blocked: readonly { readonly address: string; readonly millis: number }[];
}

interface AccessRow {
  readonly provider: string;
  /** Null if unknown at present. */
  readonly enabled: boolean | null;
}

const NEWS = `
  select v.api_keys as keys, v.api_access as access, extract(epoch from now.at)::float8 as at,
    coalesce((
      select json_agg(json_build_object('address', b.address, 'millis', extract(epoch from b.blocked_until - now.at) * 1000))
      from identity.auth_blocks b where b.blocked_at > to_timestamp($1) and b.blocked_until > now.at
    ), '[]') as blocked
  from identity.version v, (select clock_timestamp() as at) now`;

const CHANGED = `select ${KNOWN_KEY} from identity.api_keys where version > $1 order by version limit $2`;
const ONE = `select ${KNOWN_KEY} from identity.api_keys where client_id = $1`;

/** The data that processes with API keys follow: numbered changes of keys and of access, and blocked addresses. */
export class ApiKeyFeed {
  constructor(private readonly pool: Pool) {}

  async news(since: number): Promise<ApiKeyNews> {
    const { rows } = await this.pool.query<ApiKeyNews>(
      quickly({ name: 'api-key-news', text: NEWS, values: [since] }),
    );
    const [news] = rows;
    if (news === undefined) throw new Error('identity.version has no row');
    return news;
  }

  async changedSince(version: number, limit: number): Promise<readonly KnownKey[]> {
    const values = [version, limit];
    return (await this.pool.query<KnownKey>(quickly({ name: 'api-keys-changed', text: CHANGED, values })))
      .rows;
  }

  async keyOf(client_id: string): Promise<KnownKey | undefined> {
    const values = [client_id];
    return (await this.pool.query<KnownKey>(quickly({ name: 'api-key', text: ONE, values }))).rows[0];
  }

  async access(): Promise<readonly AccessRow[]> {
    const text = 'select provider, enabled from identity.api_access';
    return (await this.pool.query<AccessRow>(quickly({ name: 'api-access', text }))).rows;
  }
}
