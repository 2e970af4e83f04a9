import { DatabaseFault } from '../database-fault.js';
import { keyOf, type BalanceRow } from '../tables.js';
import { changed, required, rowsFrom, rowsOf, type Context, type Statements } from '../statement.js';

const MAY_OWE: ReadonlySet<string> = new Set(['system:issuer', 'system:opening']);

/** The ledger. Settlements wait for each other at the balances; an award's row is claimed before. */
export const custodyStatements: Statements = {
  'custody-patience': { run: () => rowsOf([{}]) },
  'custody-claim': {
    locks: ([award]) => [keyOf('award', String(award))],
    run: ({ tables, tx }, [award, outcome, , reason]) => {
      if (tx.get(tables.settlements, String(award)) !== undefined) return changed(0);
      tx.put(tables.settlements, String(award), {
        outcome: outcome === 'SETTLED' ? 'SETTLED' : 'FAILED',
        reason: typeof reason === 'string' ? reason : null,
        venue: null,
        asset: null,
        delivered_atoms: null,
      });
      return changed(1);
    },
  },
  'custody-lock': {
    // Coarser than rows, which costs nothing but time.
    locks: () => ['balances'],
    run: ({ tables, tx }, columns) => {
      const keys = new Set(rowsFrom(...columns).map((parts) => keyOf(...parts.map(required))));
      return rowsOf([...keys].sort().flatMap((key) => tx.get(tables.balances, key) ?? []));
    },
  },
  'custody-post': {
    run: (context, [, , accounts, venues, assets, amounts]) => {
      const entries = rowsFrom(accounts, venues, assets, amounts).map(
        ([account, venue, asset, amount]): BalanceRow => ({
          account: required(account),
          venue: required(venue),
          asset: required(asset),
          amount: Number(amount),
        }),
      );
      checkBalanced(entries);
      for (const entry of entries) enter(context, entry);
      return rowsOf([{ transaction_id: 1 }]);
    },
  },
  'custody-publish': {
    run: (context, [accounts, venues, assets]) => {
      for (const [account, venue, asset] of rowsFrom(accounts, venues, assets)) {
        publish(context, required(account), required(venue), required(asset));
      }
      return changed(1);
    },
  },
  'custody-settled': {
    run: ({ tables, tx, now }, [award, venue, , deadline, asset, delivered]) => {
      const row = tx.get(tables.settlements, String(award));
      if (row === undefined || now > String(deadline)) return changed(0);
      tx.put(tables.settlements, String(award), {
        ...row,
        venue: String(venue),
        asset: String(asset),
        delivered_atoms: Number(delivered),
      });
      return changed(1);
    },
  },
  'custody-outcome': {
    run: ({ tables, tx }, [award]) => {
      const row = tx.get(tables.settlements, String(award));
      return rowsOf(row === undefined ? [] : [row]);
    },
  },
};

function checkBalanced(entries: readonly BalanceRow[]): void {
  const sums = new Map<string, number>();
  for (const { venue, asset, amount } of entries) {
    sums.set(keyOf(venue, asset), (sums.get(keyOf(venue, asset)) ?? 0) + amount);
  }
  if ([...sums.values()].some((sum) => sum !== 0)) throw new DatabaseFault('23000', 'entries do not balance');
}

function enter({ tables, tx }: Context, entry: BalanceRow): void {
  const key = keyOf(entry.account, entry.venue, entry.asset);
  const amount = (tx.get(tables.balances, key)?.amount ?? 0) + entry.amount;
  if (amount < 0 && !MAY_OWE.has(entry.account)) throw new DatabaseFault('23514', 'only issuers owe');
  tx.put(tables.balances, key, { ...entry, amount });
}

/** As the statement says it: what an account has, and what its limits leave it. */
function publish(context: Context, account: string, venue: string, asset: string): void {
  const { tables, tx } = context;
  const balance = tx.get(tables.balances, keyOf(account, venue, asset))?.amount;
  const resource = asset === '' ? 'COLLATERAL' : 'OUTCOME_TOKEN';
  if (balance !== undefined) state(context, keyOf(account, venue, resource, asset), balance);
  const limit = tx.get(tables.limits, keyOf(account, venue, 'VENUE_POSITION_LIMIT'))?.amount;
  if (limit === undefined) return;
  const held = [...tx.all(tables.balances)]
    .filter(([, row]) => row.account === account && row.venue === venue && row.asset !== '')
    .reduce((sum, [, row]) => sum + row.amount, 0);
  state(context, keyOf(account, venue, 'VENUE_POSITION_LIMIT', ''), Math.max(0, limit - held));
}

function state({ tables, tx }: Context, key: string, amount: number): void {
  const known = tx.get(tables.evidence, key);
  if (known?.amount === amount) return;
  tx.put(tables.evidence, key, {
    amount,
    settled: (known?.settled ?? 0) + Math.max(0, (known?.amount ?? 0) - amount),
    source_sequence: (known?.source_sequence ?? 0) + 1,
  });
}
