import type { Hold } from '#libs/auction/rules/terms.js';

/** Holds added up by venue, resource and asset. */
export function sumsOf(holds: readonly Hold[]): ReadonlyMap<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { venue, resource, asset, amount } of holds) {
    const name = `${venue}/${resource}/${asset}`;
    sums.set(name, (sums.get(name) ?? 0n) + BigInt(amount));
  }
  return sums;
}
