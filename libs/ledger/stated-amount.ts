import { inVault } from './ledger.js';

/**
 * The ledger's amount for the row `v` of account_id, venue, resource and asset; zero without entries. Contracts of an account
 * reduce its position limit on the venue. Exposure limits open commitments, and settlement does not change it.
 */
export const STATED_AMOUNT = `coalesce(case v.resource
  when 'SERVICE_EXPOSURE_LIMIT' then (
    select l.amount from custody.limits l
    where (l.account_id, l.venue, l.resource) = (v.account_id, v.venue, v.resource))
  when 'VENUE_POSITION_LIMIT' then (
    select greatest(0, l.amount - coalesce((
      select sum(b.amount)::bigint from custody.balances b
      where (b.account_id, b.venue) = (v.account_id, v.venue) and b.asset <> '' and ${inVault('b')}), 0))
    from custody.limits l where (l.account_id, l.venue, l.resource) = (v.account_id, v.venue, v.resource))
  else (
    select b.amount from custody.balances b
    where (b.account_id, b.venue, b.asset) = (v.account_id, v.venue, v.asset) and ${inVault('b')})
  end, 0)`;

/** Whether the row `v` of the evidence differs from everything that a settlement, seed or renewal can have left. */
export const IS_SPOILED = `(v.amount <> ${STATED_AMOUNT}
  or v.settled not between 0 and ${Number.MAX_SAFE_INTEGER} or v.source_sequence not between 1 and ${Number.MAX_SAFE_INTEGER})`;

/** Ledger keys without evidence, although admission needs it. */
export const UNSPOKEN = `
  select account_id, venue, asset from custody.balances b
  where account_id not like 'system:%' and ${inVault('b')} and not exists (
    select from risk.evidence e
    where (e.account_id, e.venue, e.resource, e.asset)
      = (b.account_id, b.venue, case b.asset when '' then 'COLLATERAL' else 'OUTCOME_TOKEN' end, b.asset))
  union
  select account_id, venue, '' from custody.limits l
  where not exists (
    select from risk.evidence e
    where (e.account_id, e.venue, e.resource, e.asset) = (l.account_id, l.venue, l.resource, ''))`;
