import { isSameResource } from '../admission/risk/resource-key.js';
import type { Hold } from '../rules/terms.js';

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
  const left: Hold[] = [];
  for (const hold of whole) {
    let { amount } = hold;
    for (const other of part) if (isSameResource(hold, other)) amount -= other.amount;
    if (amount > 0) left.push({ ...hold, amount });
  }
  return left;
}
