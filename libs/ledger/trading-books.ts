import type { ClientBase } from 'pg';

export interface TradingEntry {
  readonly account: string;
  readonly domain: string;
  readonly venue: string;
  readonly asset: string;
  readonly kind: string;
  readonly amount: bigint;
}

export interface TradingTransaction {
  readonly kind: string;
  /** The id of its cause within the kind. */
  readonly cause: string;
  readonly entries: readonly TradingEntry[];
}

const BOOK = {
  name: 'custody-book',
  text: 'select custody.book($1::text[], $2::text[], $3::int[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[])',
};

/** Enters transactions outside the vault, in order. Skips those of a fill that is booked already. */
export async function bookTransactions(
  client: Pick<ClientBase, 'query'>,
  transactions: readonly TradingTransaction[],
): Promise<void> {
  if (transactions.length === 0) return;
  const lines = transactions.flatMap(({ entries }, index) =>
    joined(entries).map((entry) => ({ ...entry, number: index + 1 })),
  );
  await client.query({
    ...BOOK,
    values: [
      transactions.map(({ kind }) => kind),
      transactions.map(({ cause }) => cause),
      lines.map(({ number }) => number),
      lines.map(({ account }) => account),
      lines.map(({ domain }) => domain),
      lines.map(({ venue }) => venue),
      lines.map(({ asset }) => asset),
      lines.map(({ kind }) => kind),
      lines.map(({ amount }) => String(amount)),
    ],
  });
}

/** Joins entries of one account, because a transaction has one entry for each account. */
function joined(entries: readonly TradingEntry[]): TradingEntry[] {
  const sums = new Map<string, TradingEntry>();
  for (const entry of entries) {
    const name = JSON.stringify([entry.account, entry.domain, entry.venue, entry.asset, entry.kind]);
    sums.set(name, { ...entry, amount: (sums.get(name)?.amount ?? 0n) + entry.amount });
  }
  return [...sums.values()].filter(({ amount }) => amount !== 0n);
}
