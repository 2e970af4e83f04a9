import type { Pool } from 'pg';
import type { Account, Role } from '../principal.js';
import { ACCOUNT_COLUMNS, accountOf, ENROLLED, type AccountRow } from './account-rows.js';

const ACCOUNTS = `
  select u.account_id, ${ACCOUNT_COLUMNS}
  from identity.users u join identity.enrolments e using (account_id)
  where ${ENROLLED}`;

/** Who is enrolled in the auction service. Suspension and entitlements are the policy's business. */
export class AccountDirectory {
  constructor(private readonly pool: Pool) {}

  /** Ids that are unknown, not enrolled or disabled are left out. */
  async accounts(accountIds: readonly string[]): Promise<ReadonlyMap<string, Account>> {
    const text = `${ACCOUNTS} and u.account_id = any($1::uuid[])`;
    const { rows } = await this.pool.query<AccountRow>({
      name: 'identity-by-id',
      text,
      values: [accountIds],
    });
    return new Map(rows.map((row) => [row.account_id, accountOf(row)]));
  }

  /** In the order of their names. */
  async withRole(role: Role): Promise<readonly Account[]> {
    const text = `${ACCOUNTS} and $1 = any(e.roles) order by u.display_name, u.account_id`;
    const { rows } = await this.pool.query<AccountRow>({
      name: 'identity-by-role',
      text,
      values: [role],
    });
    return rows.map(accountOf);
  }
}
