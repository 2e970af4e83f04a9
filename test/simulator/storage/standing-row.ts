import type { StandingRow } from '#libs/auction/admission/risk/reserved-rows.js';
import type { Tables } from './tables.js';
import type { Transaction } from './transaction.js';

/** After everything in a simulation. */
const VALID_UNTIL = '2030-01-01 00:00:00';
const NOTHING: readonly number[] = [0, 0, 0];

/** The evidence of a key, and how much of it is reserved. Evidence never expires here. */
export function standingRow(tables: Tables, tx: Transaction, name: string, index: number): StandingRow {
  const evidence = tx.get(tables.evidence, name);
  const reserved = tx.get(tables.reserved, name);
  const [first = 0, second = 0, third = 0] = reserved ?? NOTHING;
  return [
    String(index + 1),
    evidence === undefined ? null : String(evidence.amount),
    String(evidence?.settled ?? 0),
    String(evidence?.source_sequence ?? 1),
    VALID_UNTIL,
    VALID_UNTIL,
    reserved === undefined ? null : String(first),
    String(second),
    String(third),
  ];
}
