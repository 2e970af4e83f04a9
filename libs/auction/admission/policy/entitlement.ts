import type { Pool } from 'pg';
import type { Atoms } from '#libs/base/money.js';

/** All that the policy says of one account, for operators. */
export interface Entitlement {
  readonly account_id: string;
  readonly display_name: string;
  readonly suspended: boolean;
  readonly may_create: boolean;
  readonly may_quote: boolean;
  readonly entitled_venues: readonly string[];
  /** The largest quantity of one trade. */
  readonly max_quantity_atoms: Atoms;
  /** The house. Accounts of one house never meet in an auction. */
  readonly control_group?: string;
}

interface EntitlementRow extends Omit<Entitlement, 'control_group'> {
  readonly control_group: string | null;
}

const ENTITLEMENT = `
  select account_id, display_name, coalesce(suspended, false) as suspended,
    coalesce(may_create, false) as may_create, coalesce(may_quote, false) as may_quote,
    coalesce(venues, '{}') as entitled_venues, coalesce(max_quantity_atoms, 0) as max_quantity_atoms, control_group
  from control.principals left join control.accounts_policy using (account_id) where account_id = $1`;

/** Undefined for an unknown account. An account without a policy row may do nothing. */
export async function entitlementOf(pool: Pool, account: string): Promise<Entitlement | undefined> {
  const { rows } = await pool.query<EntitlementRow>(ENTITLEMENT, [account]);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { control_group, ...rest } = row;
  return control_group === null ? rest : { ...rest, control_group };
}
