import type { AwardSettlement } from '../../rules/events.js';
import type { Entry } from '#libs/ledger/ledger.js';
import { couldSettle, entriesAsSettled } from '../../settlement/settlement-plan.js';
import type { AwardToSettle } from '../../settlement/settlement.js';

/** The outcome of an award in the ledger, with the entries of its transaction. */
export interface LedgerRow {
  readonly award_id: string;
  readonly outcome: 'SETTLED' | 'FAILED';
  readonly venue: string | null;
  readonly asset: string | null;
  readonly delivered_atoms: number | null;
  readonly transaction_id: string | null;
  readonly kind: string | null;
  readonly entries: readonly (readonly [account: string, venue: string, asset: string, amount: number])[];
}

/**
 * What is wrong with an award's settlement, to the atom; undefined if it is right. `journaled` is the settlement in its record,
 * if there is one yet.
 */
export function faultIn(
  row: LedgerRow,
  award: AwardToSettle,
  journaled: AwardSettlement | undefined,
): string | undefined {
  if (row.kind !== 'SETTLEMENT') return `${transactionOf(row)} is ${row.kind ?? 'not there'}`;
  const settlement = settlementIn(row);
  if (settlement === undefined)
    return `the ledger does not say by which route ${transactionOf(row)} settled it`;
  if (journaled !== undefined && nameOf(settlement) !== nameOf(journaled)) {
    return `the ledger says ${nameOf(settlement)}, the record ${nameOf(journaled)}`;
  }
  const expected = entriesAsSettled(award, settlement);
  if (expected === undefined || !couldSettle(award, settlement)) {
    return `${transactionOf(row)} settled it by ${nameOf(settlement)}, which exceeds what is reserved for it`;
  }
  return differenceOf(row, expected);
}

function settlementIn({ venue, asset, delivered_atoms: delivered }: LedgerRow): AwardSettlement | undefined {
  if (venue === null || asset === null || delivered === null) return undefined;
  return { venue, asset, delivered_atoms: delivered };
}

function differenceOf(row: LedgerRow, expected: readonly Entry[]): string | undefined {
  const wanted = new Map(
    expected.map(({ account, venue, asset, amount }) => [keyOf(account, venue, asset), amount]),
  );
  for (const [account, venue, asset, amount] of row.entries) {
    const key = keyOf(account, venue, asset);
    const required = wanted.get(key) ?? 0;
    if (amount !== required)
      return `${transactionOf(row)} enters ${amount} for ${key} instead of ${required}`;
    wanted.delete(key);
  }
  const [missing] = wanted;
  if (missing === undefined) return undefined;
  return `${transactionOf(row)} enters nothing for ${missing[0]} instead of ${missing[1]}`;
}

function transactionOf({ transaction_id: id }: LedgerRow): string {
  return `transaction ${id ?? 'without a number'}`;
}

function keyOf(account: string, venue: string, asset: string): string {
  return `${account} on ${venue}, ${asset === '' ? 'collateral' : asset}`;
}

function nameOf({ venue, asset, delivered_atoms: delivered }: AwardSettlement): string {
  return `${venue}/${asset} with ${delivered} delivered`;
}
