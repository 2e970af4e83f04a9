import type { Database } from '../storage/database.js';
import { FIRST_POLICY } from '../storage/statements/policy-statements.js';
import { keyOf } from '../storage/tables.js';
import { Transaction } from '../storage/transaction.js';
import { groupOf, type Contract } from './cast.js';

/** The registry says that a market has stopped trading for good. */
export function closeMarket(database: Database, { venue, contract_id: contract, outcome }: Contract): void {
  const { contracts } = database.tables;
  change(database, 'contracts', (tx) => {
    const key = keyOf(venue, contract, outcome);
    const row = tx.get(contracts, key);
    if (row !== undefined) tx.put(contracts, key, { ...row, status: 'CLOSED' });
  });
}

export function suspend(database: Database, account: string): void {
  const { principals } = database.tables;
  change(database, 'principals', (tx) => {
    const row = tx.get(principals, account);
    if (row !== undefined) tx.put(principals, account, { ...row, suspended: true });
  });
}

/** An originator has other makers in its group from now on; or no such group any more. */
export function regroup(database: Database, id: string, members: readonly string[] | undefined): void {
  const { groups } = database.tables;
  change(database, 'groups', (tx) => {
    tx.put(groups, id, members === undefined ? undefined : groupOf(id, members));
  });
}

/** A part of the policy changes, and its version with it. */
function change(
  database: Database,
  part: 'contracts' | 'principals' | 'groups',
  act: (tx: Transaction) => void,
): void {
  const { policy } = database.tables;
  const tx = new Transaction();
  act(tx);
  const known = tx.get(policy, '') ?? FIRST_POLICY;
  tx.put(policy, '', { ...known, version: known.version + 1, [part]: known[part] + 1 });
  database.commit(tx);
}
