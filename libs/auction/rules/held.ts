import type { Atoms } from '#libs/base/money.js';
import type { Hold } from './terms.js';

export type HoldKey = Omit<Hold, 'amount'>;

/** A hold in compact form: keys and amounts apart. The many quotes of one auction share the same keys. */
export interface Held {
  readonly keys: readonly HoldKey[];
  readonly amounts: readonly Atoms[];
}

/** The compact form of a hold. Reuses the keys of one of `others` if they are equal. */
export function heldAs(hold: readonly Hold[], others: Iterable<Held> = []): Held {
  const amounts = hold.map(({ amount }) => amount);
  for (const { keys } of others) if (areKeysOf(keys, hold)) return { keys, amounts };
  return { keys: hold.map(({ venue, resource, asset }) => ({ venue, resource, asset })), amounts };
}

/** The hold of a quote, or of the originator for its auction. Empty without a holder. */
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
