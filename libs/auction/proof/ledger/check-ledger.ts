import type { AwardToSettle } from '../../settlement/settlement.js';
import { faultsInBooks } from './book-checks.js';
import type { LedgerQueries, LedgerProof, StoredSettlement } from './ledger-proof.js';

export interface LedgerCheck {
  /** Awards of which the journals say how they ended. */
  readonly ended: number;
  /** In the words of an operator; empty where journals, ledger and evidence agree. */
  readonly faults: readonly string[];
}

export interface LedgerQuestion {
  readonly shards: readonly number[];
  readonly allShards: readonly number[];
  /** Awards whose end no journal tells yet. */
  readonly pending: readonly AwardToSettle[];
  /** Has the proof told what the journals say by now: while owners run, an award may have been made and settled since they were read. */
  readonly readOn: () => Promise<void>;
}

/** Asked after the journals were read and `proof` was told of all their ends. It holds while all goes on as well. */
export async function checkLedger(
  database: LedgerQueries,
  proof: LedgerProof,
  question: LedgerQuestion,
): Promise<LedgerCheck> {
  await proof.look(database);
  await proof.lookAtPending(database, question.pending);
  const invented = await inventedOf(database, proof, question);
  return { ended: proof.ended, faults: [...proof.faults, ...invented, ...(await faultsInBooks(database))] };
}

async function inventedOf(
  database: LedgerQueries,
  proof: LedgerProof,
  { shards, allShards, readOn }: LedgerQuestion,
): Promise<string[]> {
  const others = allShards.filter((shard) => !shards.includes(shard)).map(String);
  // What begins with no shard's digit is of none, and is asked for with any.
  const isAsked = (id: string): boolean => !others.includes(id.charAt(0));
  let { first, count } = await proof.unknown(database, isAsked);
  if (count > 0) {
    await readOn();
    ({ first, count } = await proof.unknown(database, isAsked));
  }
  const more = count - first.length;
  return [...first.map(textOf), ...(more > 0 ? [`and ${more} more awards that no journal knows`] : [])];
}

function textOf({ award_id: id, outcome, transaction_id: transaction }: StoredSettlement): string {
  const how = transaction === null ? outcome : `${outcome} by transaction ${transaction}`;
  return `award ${id} is in the ledger, and no journal knows it: ${how}`;
}
