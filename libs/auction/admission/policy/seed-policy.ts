import type { Pool } from 'pg';
import type { ContractFacts } from '../../rules/commands.js';
import type { TradingPrincipal } from './policy-snapshot.js';

/** Registers contracts. A contract that is already registered keeps its status. */
export async function seedContracts(pool: Pool, contracts: readonly ContractFacts[]): Promise<void> {
  await pool.query(
    `insert into control.contracts (venue, contract_id, outcome, title, equivalence_id, price_tick_atoms,
       quantity_step_atoms, status, closes_at)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[],
       $8::text[], $9::timestamptz[])
     on conflict do nothing`,
    [
      contracts.map((contract) => contract.venue),
      contracts.map((contract) => contract.contract_id),
      contracts.map((contract) => contract.outcome),
      contracts.map((contract) => contract.title),
      contracts.map((contract) => contract.equivalence_id),
      contracts.map((contract) => contract.price_tick_atoms),
      contracts.map((contract) => contract.quantity_step_atoms),
      contracts.map((contract) => contract.status),
      contracts.map((contract) => contract.closes_at),
    ],
  );
}

export type PolicySeed = Omit<TradingPrincipal, 'venues'> & { readonly venues: readonly string[] };

/** Registers accounts and what they may do. Existing accounts stay unchanged. */
export async function seedPolicy(pool: Pool, principals: readonly PolicySeed[]): Promise<void> {
  // One JSON document: unnest would flatten the venues of all accounts into one column.
  await pool.query(
    `with seed as (
       select * from jsonb_to_recordset($1) as s (account_id text, display_name text, is_maker boolean,
         is_originator boolean, suspended boolean, may_create boolean, may_quote boolean, venues text[],
         max_quantity_atoms bigint, control_group text)
     ), entered as (
       insert into control.principals (account_id, display_name, is_maker, is_originator)
       select account_id, display_name, is_maker, is_originator from seed on conflict do nothing
     )
     insert into control.accounts_policy
       (account_id, suspended, may_create, may_quote, venues, max_quantity_atoms, control_group)
     select account_id, suspended, may_create, may_quote, venues, max_quantity_atoms, control_group from seed
     on conflict do nothing`,
    [JSON.stringify(principals)],
  );
}
