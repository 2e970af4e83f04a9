import type { Hold } from '#libs/auction/terms.js';

function nameOf(hold: Hold): string {
  return `${hold.venue}/${hold.resource}/${hold.asset}`;
}

/** The larger of both for each resource: what stays set aside while it is not yet certain which of the two will stand. */
export function larger(left: readonly Hold[], right: readonly Hold[]): Hold[] {
  const byName = new Map(left.map((hold) => [nameOf(hold), hold]));
  for (const hold of right) {
    const other = byName.get(nameOf(hold));
    if (other === undefined || other.amount < hold.amount) byName.set(nameOf(hold), hold);
  }
  return [...byName.values()];
}

/** What `whole` has beyond `part`, nothing below zero. */
export function beyond(whole: readonly Hold[], part: readonly Hold[]): Hold[] {
  const amounts = new Map<string, number>();
  for (const hold of part) amounts.set(nameOf(hold), (amounts.get(nameOf(hold)) ?? 0) + hold.amount);
  return whole.flatMap((hold) => {
    const amount = hold.amount - (amounts.get(nameOf(hold)) ?? 0);
    return amount > 0 ? [{ ...hold, amount }] : [];
  });
}
