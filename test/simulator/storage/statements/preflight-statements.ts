import { rowsOf, type Statements } from '../statement.js';
import { standingRow } from '../standing-row.js';
import { keyOf } from '../tables.js';

/** Reads of capacity for a preflight; reservations have their own session. */
export const preflightStatements: Statements = {
  'preflight-standing': {
    run: ({ tables, tx }, columns) => {
      const [accounts = [], venues = [], resources = [], assets = []] = columns.map(listed);
      return rowsOf(
        accounts.map((account, index) => {
          const name = keyOf(account, venues[index] ?? '', resources[index] ?? '', assets[index] ?? '');
          return standingRow(tables, tx, name, index);
        }),
      );
    },
  },
};

/** Parses an array literal. */
function listed(literal: unknown): readonly string[] {
  return JSON.parse(`[${String(literal).slice(1, -1)}]`) as readonly string[];
}
