import { DatabaseFault } from '../database-fault.js';
import { keyOf, type BalanceRow } from '../tables.js';
import { changed, required, rowsFrom, rowsOf, type Context, type Statements } from '../statement.js';

/** One lock for all rows, which only costs time. */
export const BALANCES = 'balances';
const MAY_OWE: ReadonlySet<string> = new Set(['system:issuer', 'system:opening']);

/** The ledger. Settlements wait for each other at the balances, after claiming the award's row. */
export const custodyStatements: Statements = {
  'custody-patience': { run: () => rowsOf([{}]) },
  'custody-claim': {
    locks: ([award]) => [keyOf('award', String(award))],
    run: (context, [award]) => rowsOf([{ claimed: stands(context, award, 'SETTLED', null) }]),
  },
  'custody-give-up': {
    locks: ([award]) => [keyOf('award', String(award))],
    run: (context, [award, reason]) => changed(stands(context, award, 'FAILED', String(reason)) ? 1 : 0),
  },
  'custody-lock': {
    locks: () => [BALANCES],
    run: ({ tables, tx }, columns) => {
      const keys = new Set(rowsFrom(...columns).map((parts) => keyOf(...parts.map(required))));
      return rowsOf([...keys].sort().flatMap((key) => tx.get(tables.balances, key) ?? []));
    },
  },
  'custody-post': {
    run: (context, [award, venue, asset, delivered, accounts, assets, amounts]) => {
      const entries = rowsFrom(accounts, assets, amounts).map(([account, of, amount]): BalanceRow => ({
        account: required(account),
        venue: String(venue),
        asset: required(of),
        amount: Number(amount),
      }));
      checkBalanced(entries);
      for (const entry of entries) enter(context, entry);
      const { tables, tx } = context;
      const row = tx.get(tables.settlements, String(award));
      if (row?.outcome !== 'SETTLED') throw new DatabaseFault('23000', 'the award is not claimed');
      tx.put(tables.settlements, String(award), {
        ...row,
        venue: String(venue),
        asset: String(asset),
        delivered_atoms: Number(delivered),
      });
      return rowsOf([{ post_settlement: 1 }]);
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
  'custody-in-time': {
    run: ({ now }, [deadline]) => rowsOf([{ in_time: now <= String(deadline) }]),
  },
  'custody-outcome': {
    run: ({ tables, tx }, [award]) => {
      const row = tx.get(tables.settlements, String(award));
      return rowsOf(row === undefined ? [] : [row]);
    },
  },
};

/** False if the award already has its outcome. */
function stands(
  { tables, tx }: Context,
  award: unknown,
  outcome: 'SETTLED' | 'FAILED',
  reason: string | null,
): boolean {
  if (tx.get(tables.settlements, String(award)) !== undefined) return false;
  const how = { venue: null, asset: null, delivered_atoms: null };
  tx.put(tables.settlements, String(award), { outcome, reason, ...how });
  return true;
}

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

/** Like the statement: an account's balance, and the room that its limits leave. */
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
