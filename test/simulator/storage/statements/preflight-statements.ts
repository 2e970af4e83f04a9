import { rowsOf, type Statements } from '../statement.js';
import { standingRow } from '../standing-row.js';
import { keyOf } from '../tables.js';

/** What a preflight asks of capacity; the reservations themselves have a session of their own. */
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

/** An array as its literal. */
function listed(literal: unknown): readonly string[] {
  return JSON.parse(`[${String(literal).slice(1, -1)}]`) as readonly string[];
}
