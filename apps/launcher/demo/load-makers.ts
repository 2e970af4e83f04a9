import type { Pool } from 'pg';
import type { DemoAccount } from './demo-accounts.js';
import { DEMO_VENUES } from './demo-contracts.js';

/**
 * Load makers trade while they are asked for, and are entitled to no venue otherwise: hundreds of them from an earlier start would
 * make every audience of `all_eligible` too large. What has become of them in any other way stays as it is.
 */
export async function callInLoadMakers(pool: Pool, accounts: readonly DemoAccount[]): Promise<void> {
  const asked = accounts.filter(({ load }) => load).map(({ account_id: id }) => id);
  await pool.query(
    `with wanted as (
       select account_id::text, case when account_id::text = any ($1) then $2::text[] else '{}' end as venues
       from identity.users where email like 'load-maker-%@demo.sotto'
     )
     update control.accounts_policy as policy set venues = wanted.venues from wanted
     where policy.account_id = wanted.account_id and policy.venues <> wanted.venues`,
    [asked, DEMO_VENUES],
  );
}
