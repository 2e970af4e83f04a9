import { inVault, OPENING } from '#libs/ledger/ledger.js';
import { IS_SPOILED, UNSPOKEN } from '#libs/ledger/stated-amount.js';
import type { LedgerQueries } from './ledger-proof.js';

/** How many faults of each kind are reported. */
const MOST = 20;

/** Kinds of transactions outside the vault, booked from the cells' journals. */
const BOOKED = `'DEPOSIT', 'WITHDRAWAL', 'TRANSFER', 'FILL', 'FEE', 'HOLD', 'RELEASE', 'MERGE', 'REDEEM', 'EXTERNAL'`;

/** Each statement returns a sentence for every contradiction among entries, openings, settlements and evidence. */
const CHECKS: readonly string[] = [
  `select 'transaction ' || transaction_id || ' is a TRANSFER of the vault, and no request explains it' from custody.transactions t
   where kind = 'TRANSFER' and exists (
     select from custody.entries e where e.transaction_id = t.transaction_id and e.domain = 'vault')
   and not exists (select from custody.transfers f where f.transfer_id::text = t.cause_id)`,
  `select distinct 'transaction ' || transaction_id || ' is ' || t.kind || ' and enters something in the vault'
   from custody.transactions t join custody.entries e using (transaction_id)
   where t.kind not in ('SETTLEMENT', 'OPENING', 'TRANSFER') and e.domain = 'vault'`,
  `select 'transaction ' || transaction_id || ' is a SETTLEMENT, and no award was settled by it' from custody.transactions t
   where kind = 'SETTLEMENT' and not exists (select from custody.settlements s where s.transaction_id = t.transaction_id)`,
  `select 'transaction ' || transaction_id || ' is an OPENING, and no reference explains it' from custody.transactions t
   where kind = 'OPENING' and not exists (select from custody.openings o where o.transaction_id = t.transaction_id)`,
  `select 'transaction ' || transaction_id || ' is ' || kind || ', which is an unknown kind' from custody.transactions
   where kind not in ('SETTLEMENT', 'OPENING', ${BOOKED})`,
  `select 'transaction ' || transaction_id || ' has no entries' from custody.transactions t
   where not exists (select from custody.entries e where e.transaction_id = t.transaction_id)`,
  `select distinct 'there are entries of transaction ' || transaction_id || ', which is not there' from custody.entries e
   where not exists (select from custody.transactions t where t.transaction_id = e.transaction_id)`,
  `select 'transaction ' || transaction_id || ' has settled more than one award: ' || string_agg(award_id::text, ', ' order by award_id)
   from custody.settlements where transaction_id is not null group by transaction_id having count(*) > 1`,
  `select distinct 'transaction ' || transaction_id || ' is a SETTLEMENT and enters something outside the vault'
   from custody.transactions t join custody.entries e using (transaction_id) where t.kind = 'SETTLEMENT' and not ${inVault('e')}`,
  `select 'award ' || award_id || ' is ' || outcome || ' by ' || coalesce('transaction ' || s.transaction_id, 'no transaction')
     || case when s.transaction_id is null then '' when t.kind is null then ', which is not there' else ', which is of kind ' || t.kind end
   from custody.settlements s left join custody.transactions t using (transaction_id)
   where case outcome when 'SETTLED' then t.kind is distinct from 'SETTLEMENT' else s.transaction_id is not null end`,
  `select 'reference ' || quote_literal(reference) || ' names transaction ' || transaction_id || ', which is no opening'
   from custody.openings o where not exists (
     select from custody.transactions t where t.transaction_id = o.transaction_id and t.kind = 'OPENING')`,
  `select distinct 'transaction ' || transaction_id || ' is an OPENING and takes from ' || account_id
   from custody.transactions t join custody.entries using (transaction_id)
   where t.kind = 'OPENING' and (account_id = '${OPENING}') <> (amount < 0)`,
  `select 'entries of transaction ' || transaction_id || ' do not balance' from custody.entries
   group by transaction_id, domain, venue, asset having sum(amount) <> 0`,
  `select 'the balance of ' || coalesce(b.account_id, e.account_id) || ' ' || coalesce(b.venue, e.venue) || ' '
     || coalesce(b.asset, e.asset) || ' is not the sum of its entries'
   from custody.balances b
   full join (
     select account_id, domain, venue, asset, kind, sum(amount) as amount from custody.entries group by 1, 2, 3, 4, 5
   ) e using (account_id, domain, venue, asset, kind)
   where coalesce(b.amount, 0) <> coalesce(e.amount, 0)`,
  `select 'the evidence for ' || concat_ws(' ', account_id, nullif(venue, ''), resource, nullif(asset, ''))
     || ' is not what the ledger says'
   from risk.evidence v where ${IS_SPOILED}`,
  `select 'there is no evidence for ' || concat_ws(' ', account_id, nullif(venue, ''), nullif(asset, ''))
     || ', although the ledger has a balance or limit'
   from (${UNSPOKEN}) as u`,
];

/**
 * Checks the ledger's tables against each other. Each statement sees one snapshot, so this also holds while awards are being
 * settled.
 */
export async function faultsInBooks(database: LedgerQueries): Promise<string[]> {
  const faults: string[] = [];
  for (const check of CHECKS) {
    const { rows } = await database.query<{ what: string; found: number }>(
      `with faults (what) as materialized (${check})
       select what, (select count(*) from faults) as found from faults order by 1 limit ${MOST}`,
    );
    faults.push(...rows.map(({ what }) => what));
    const more = (rows[0]?.found ?? 0) - rows.length;
    if (more > 0) faults.push(`and ${more} more of these`);
  }
  return faults;
}
