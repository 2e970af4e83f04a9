import type { Database } from '../storage/database.js';
import { keyOf, type Tables } from '../storage/tables.js';
import { Transaction } from '../storage/transaction.js';
import type { Contract } from './cast.js';

/** The registry says that a market has stopped trading for good. */
export function closeMarket(database: Database, { venue, contract_id: contract, outcome }: Contract): void {
  const { contracts } = database.tables;
  change(database, 'contracts', (tx) => {
    const key = keyOf(venue, contract, outcome);
    tx.put(contracts, key, { ...tx.get(contracts, key), status: 'CLOSED' });
  });
}

export function suspend(database: Database, account: string): void {
  const { principals } = database.tables;
  change(database, 'principals', (tx) => {
    tx.put(principals, account, { ...tx.get(principals, account), suspended: true });
  });
}

export function isSuspended({ principals }: Tables, account: string): boolean {
  const row = principals.rows.get(account) ?? {};
  return 'suspended' in row && row.suspended === true;
}

/** A part of the policy changes, and its version with it. */
function change(database: Database, part: 'contracts' | 'principals', act: (tx: Transaction) => void): void {
  const { policy } = database.tables;
  const tx = new Transaction();
  act(tx);
  const known = tx.get(policy, '') ?? { version: 1, protection: 1, contracts: 1, principals: 1 };
  tx.put(policy, '', { ...known, version: known.version + 1, [part]: known[part] + 1 });
  database.commit(tx);
}
