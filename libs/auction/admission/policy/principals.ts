import type { Pool } from 'pg';
import type { Atoms } from '#libs/base/money.js';

export interface ListedMaker {
  readonly market_maker_id: string;
  readonly display_name: string;
  readonly venues: readonly string[];
}

/** Makers that an originator may invite now. */
export async function listMakers(pool: Pool): Promise<readonly ListedMaker[]> {
  const { rows } = await pool.query<ListedMaker>({
    name: 'makers',
    text: `
      select account_id as market_maker_id, display_name, venues
      from control.principals join control.accounts_policy using (account_id)
      where is_maker and may_quote and not suspended order by account_id`,
  });
  return rows;
}

export interface OwnPolicy {
  readonly display_name: string;
  readonly entitled_venues: readonly string[];
  readonly max_quantity_atoms: Atoms;
}

/** What an account may see of its own entitlement. Empty for an account without a policy. */
export async function ownPolicy(pool: Pool, account: string): Promise<OwnPolicy> {
  const { rows } = await pool.query<OwnPolicy>({
    name: 'own-policy',
    text: `
      select display_name, venues as entitled_venues, max_quantity_atoms
      from control.principals join control.accounts_policy using (account_id) where account_id = $1`,
    values: [account],
  });
  return rows[0] ?? { display_name: '', entitled_venues: [], max_quantity_atoms: 0 };
}
