import type { Atoms } from '#libs/base/money.js';
import type { Hold } from './terms.js';

export type HoldKey = Omit<Hold, 'amount'>;

/** A hold in short: what is set aside, and apart from it how much. Quotes of one auction share the former, there are many of them. */
export interface Held {
  readonly keys: readonly HoldKey[];
  readonly amounts: readonly Atoms[];
}

/** The hold in short, with the keys of one of `others` where they are the same. */
export function heldAs(hold: readonly Hold[], others: Iterable<Held> = []): Held {
  const amounts = hold.map(({ amount }) => amount);
  for (const { keys } of others) if (areKeysOf(keys, hold)) return { keys, amounts };
  return { keys: hold.map(({ venue, resource, asset }) => ({ venue, resource, asset })), amounts };
}

/** What is set aside for a quote, or for an auction by its originator; nothing where there is none. */
export function holdOf(holder: { readonly held: Held } | undefined): Hold[] {
  if (holder === undefined) return [];
  const { keys, amounts } = holder.held;
  return keys.map((key, index) => ({ ...key, amount: amounts[index] ?? 0 }));
}

function areKeysOf(keys: readonly HoldKey[], hold: readonly Hold[]): boolean {
  return (
    keys.length === hold.length &&
    keys.every(({ venue, resource, asset }, index) => {
      const other = hold[index];
      return other?.venue === venue && other.resource === resource && other.asset === asset;
    })
  );
}
