import type { AwardToSettle } from '../../settlement/settlement.js';
import { faultsInBooks } from './book-checks.js';
import type { LedgerQueries, LedgerProof, StoredSettlement } from './ledger-proof.js';

export interface LedgerCheck {
  /** Number of awards whose end is journaled. */
  readonly ended: number;
  /** Sentences for an operator. Empty if journals, ledger and evidence agree. */
  readonly faults: readonly string[];
}

export interface LedgerQuestion {
  readonly shards: readonly number[];
  readonly allShards: readonly number[];
  /** Awards whose end is not journaled yet. */
  readonly pending: readonly AwardToSettle[];
  /**
   * Passes newer records to the proof. While owners run, an award may have been made and settled since the journals were read.
   */
  readonly readOn: () => Promise<void>;
}

/** Call after the journals were read and `proof` has all ends of awards. The result also holds while the cluster is working. */
export async function checkLedger(
  database: LedgerQueries,
  proof: LedgerProof,
  question: LedgerQuestion,
): Promise<LedgerCheck> {
  await proof.look(database);
  await proof.lookAtPending(database, question.pending);
  const unnamed = await unknownAwards(database, proof, question);
  return { ended: proof.ended, faults: [...proof.faults, ...unnamed, ...(await faultsInBooks(database))] };
}

async function unknownAwards(
  database: LedgerQueries,
  proof: LedgerProof,
  { shards, allShards, readOn }: LedgerQuestion,
): Promise<string[]> {
  const others = allShards.filter((shard) => !shards.includes(shard)).map(String);
  // An id that begins with no shard's digit belongs to no shard, and is in scope of every run.
  const isInScope = (id: string): boolean => !others.includes(id.charAt(0));
  let { first, count } = await proof.unknown(database, isInScope);
  if (count > 0) {
    await readOn();
    ({ first, count } = await proof.unknown(database, isInScope));
  }
  const more = count - first.length;
  return [...first.map(textOf), ...(more > 0 ? [`and ${more} more awards that no journal knows`] : [])];
}

function textOf({ award_id: id, outcome, transaction_id: transaction }: StoredSettlement): string {
  const how = transaction === null ? outcome : `${outcome} by transaction ${transaction}`;
  return `award ${id} is in the ledger, and no journal knows it: ${how}`;
}
