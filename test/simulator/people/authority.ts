import type { SimulatedDatabase } from '../storage/database.js';
import { FIRST_POLICY } from '../storage/statements/policy-statements.js';
import { keyOf } from '../storage/tables.js';
import { Transaction } from '../storage/transaction.js';
import type { Contract } from './cast.js';

/** Marks a market as closed in the registry, and raises the policy's version with it. */
export function closeMarket(
  database: SimulatedDatabase,
  { venue, contract_id: contract, outcome }: Contract,
): void {
  const { contracts, policy } = database.tables;
  const tx = new Transaction();
  const key = keyOf(venue, contract, outcome);
  const row = tx.get(contracts, key);
  if (row !== undefined) tx.put(contracts, key, { ...row, status: 'CLOSED' });
  const known = tx.get(policy, '') ?? FIRST_POLICY;
  tx.put(policy, '', { ...known, version: known.version + 1, contracts: known.contracts + 1 });
  database.commit(tx);
}
