import type { Pool } from 'pg';
import { enrolledUserOf, enrolledUsersWhere, type AccountRow } from '../accounts/account-rows.js';
import type { EnrolledUser, ServiceCatalogue } from '../principal.js';
import { quickly } from '../quick-query.js';
import type { Claims } from '../tokens/claims.js';
import type { Revoked } from './revoked-ids.js';

/** A number for each kind of data. It rises with every change and never falls. */
export interface FeedVersions {
  readonly accounts: number;
  readonly revocations: number;
  readonly keys: number;
}

export interface AccountChange {
  readonly accountId: string;
  /** Undefined for a user that is disabled or enrolled nowhere. */
  readonly account: EnrolledUser | undefined;
}

/** The account of a token that is not revoked. */
export type TokenState = EnrolledUser | 'refused';

export interface TokenStanding {
  readonly token_revoked: boolean;
  readonly session_revoked: boolean;
  /** True if the user exists and is not disabled, with or without an enrolment. */
  readonly is_active: boolean;
}

type NullableRow = { readonly [K in keyof AccountRow]: AccountRow[K] | null };

const VERSIONS = 'select accounts, revocations, keys from identity.version';

const CHANGED_ACCOUNTS = `
  select c.account_id as changed, known.*
  from identity.account_changes c
  left join lateral (${enrolledUsersWhere('u.account_id = c.account_id')}) known on true
  where c.version > $1`;

const NEW_REVOCATIONS = `
  select id, extract(epoch from expires_at)::int8 as until
  from identity.revocations
  where version > $1 and expires_at > to_timestamp($2)
  limit $3`;

const STATE = enrolledUsersWhere(
  'u.account_id = $1 and not exists (select from identity.revocations where id = any($2::uuid[]))',
);

const STANDING = `
  select exists (select from identity.revocations where id = $3) as token_revoked,
    exists (select from identity.revocations where id = $2) as session_revoked,
    exists (select from identity.users where account_id = $1 and not disabled) as is_active`;

const USER = enrolledUsersWhere('u.account_id = $1');

/** Reads the numbered changes that gateways follow: of accounts, revocations and keys. */
export class IdentityFeed {
  constructor(
    private readonly pool: Pool,
    private readonly catalogues: readonly ServiceCatalogue[],
  ) {}

  async versions(): Promise<FeedVersions> {
    const { rows } = await this.pool.query<FeedVersions>(
      quickly({ name: 'identity-versions', text: VERSIONS }),
    );
    const [versions] = rows;
    if (versions === undefined) throw new Error('identity.version has no row');
    return versions;
  }

  async accountsChangedSince(version: number): Promise<readonly AccountChange[]> {
    const { rows } = await this.pool.query<NullableRow & { readonly changed: string }>(
      quickly({ name: 'identity-accounts', text: CHANGED_ACCOUNTS, values: [version] }),
    );
    return rows.map((row) => ({
      accountId: row.changed,
      account: isEnrolled(row) ? enrolledUserOf(row, this.catalogues) : undefined,
    }));
  }

  async revokedSince(version: number, nowSeconds: number, limit: number): Promise<readonly Revoked[]> {
    const { rows } = await this.pool.query<Revoked>(
      quickly({ name: 'identity-revocations', text: NEW_REVOCATIONS, values: [version, nowSeconds, limit] }),
    );
    return rows;
  }

  /** Reads the present state of one token, for callers whose cached data is too old. */
  async stateOf({ sub, sid, jti }: Claims): Promise<TokenState> {
    const { rows } = await this.pool.query<AccountRow>(
      quickly({ name: 'identity-token-state', text: STATE, values: [sub, [sid, jti]] }),
    );
    return rows[0] === undefined ? 'refused' : enrolledUserOf(rows[0], this.catalogues);
  }

  /** Reads what is revoked about a token, and whether its user is active. */
  async standingOf({ sub, sid, jti }: Pick<Claims, 'sub' | 'sid' | 'jti'>): Promise<TokenStanding> {
    const { rows } = await this.pool.query<TokenStanding>(
      quickly({ name: 'identity-token-standing', text: STANDING, values: [sub, sid, jti] }),
    );
    return rows[0] ?? { token_revoked: false, session_revoked: false, is_active: false };
  }

  /** Like `stateOf`, for a user without a token. */
  async userOf(accountId: string): Promise<TokenState> {
    const { rows } = await this.pool.query<AccountRow>(
      quickly({ name: 'identity-user-state', text: USER, values: [accountId] }),
    );
    return rows[0] === undefined ? 'refused' : enrolledUserOf(rows[0], this.catalogues);
  }
}

function isEnrolled<R extends NullableRow>(row: R): row is R & AccountRow {
  return row.account_id !== null;
}
