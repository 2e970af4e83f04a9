import type { Hold } from '#libs/auction/rules/terms.js';
import { holdsOf } from '#libs/auction/rules/holds-of.js';
import type { AuctionState } from '#libs/auction/rules/state.js';

/** The sums of holds by venue, resource and asset. */
export function sumsOf(holds: readonly Hold[]): ReadonlyMap<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { venue, resource, asset, amount } of holds) {
    const name = `${venue}/${resource}/${asset}`;
    sums.set(name, (sums.get(name) ?? 0n) + BigInt(amount));
  }
  return sums;
}

/**
 * The expected content of the reservations for these auctions, in the format of `ShardWorld.reservedBy`. Leaves out zero amounts.
 */
export function expectedHolds(states: Iterable<AuctionState>): Record<string, number> {
  const amounts: Record<string, number> = {};
  for (const state of states) {
    for (const [account, holds] of holdsOf(state)) {
      for (const hold of holds.filter(({ amount }) => amount !== 0))
        amounts[nameOf(account, hold)] = (amounts[nameOf(account, hold)] ?? 0) + hold.amount;
    }
  }
  return amounts;
}

function nameOf(account: string, { venue, resource, asset }: Hold): string {
  return `${account}/${venue}/${resource}/${asset}`;
}
