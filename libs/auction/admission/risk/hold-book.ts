import type { Atoms } from '#libs/base/money.js';
import type { Hold } from '../../rules/terms.js';
import type { AccountKeyCache } from './key-ring.js';
import { isSameResource, type AccountKey } from './resource-key.js';

interface Line {
  readonly key: AccountKey;
  readonly amount: Atoms;
}

export interface HeldAmounts {
  amountOf(key: AccountKey): Atoms;
}

/** Additions that are not certain yet, on top of the present holds. They are either accepted or dropped. */
export class HoldDraft {
  private readonly additions = new Map<string, Line>();

  constructor(
    private readonly held: HeldAmounts,
    private readonly ring: AccountKeyCache,
  ) {}

  total(key: AccountKey): Atoms {
    return this.held.amountOf(key) + (this.additions.get(key.name)?.amount ?? 0);
  }

  /** Undefined if nothing is added. */
  additionTo(key: AccountKey): Atoms | undefined {
    return this.additions.get(key.name)?.amount;
  }

  /** Raises each resource to the larger of `current`, which is held already, and `next`. */
  raise(account: string, current: readonly Hold[], next: readonly Hold[]): void {
    for (const hold of next) {
      let more = hold.amount;
      for (const old of current) if (isSameResource(old, hold)) more -= old.amount;
      if (more > 0) this.add(this.ring.of(account, hold), more);
    }
  }

  keys(): AccountKey[] {
    return [...this.additions.values()].map((line) => line.key);
  }

  lines(): Iterable<Line> {
    return this.additions.values();
  }

  private add(key: AccountKey, more: Atoms): void {
    this.additions.set(key.name, { key, amount: (this.additions.get(key.name)?.amount ?? 0) + more });
  }
}

/** What this shard holds, summed over its quotes and auctions. The table follows this, never the reverse. */
export class HoldBook implements HeldAmounts {
  private readonly lines = new Map<string, Line>();

  constructor(private readonly ring: AccountKeyCache) {}

  get size(): number {
    return this.lines.size;
  }

  amountOf(key: AccountKey): Atoms {
    return this.lines.get(key.name)?.amount ?? 0;
  }

  /** A copy of the present amounts of these keys. */
  amountsOf(keys: readonly AccountKey[]): HeldAmounts {
    const amounts = new Map(keys.map((key) => [key.name, this.amountOf(key)]));
    return { amountOf: ({ name }) => amounts.get(name) ?? 0 };
  }

  add(account: string, holds: readonly Hold[]): void {
    for (const hold of holds) this.change(this.ring.of(account, hold), hold.amount);
  }

  /** Returns the changed keys. Throws if more is released than is held: that would free what other holds need. */
  remove(account: string, holds: readonly Hold[]): AccountKey[] {
    return holds.map((hold) => this.change(this.ring.of(account, hold), -hold.amount));
  }

  accept(draft: HoldDraft): void {
    for (const { key, amount } of draft.lines()) this.change(key, amount);
  }

  /** Undoes an accepted draft. */
  takeBack(draft: HoldDraft): AccountKey[] {
    return [...draft.lines()].map(({ key, amount }) => this.change(key, -amount));
  }

  keys(): AccountKey[] {
    return [...this.lines.values()].map((line) => line.key);
  }

  private change(key: AccountKey, by: Atoms): AccountKey {
    const amount = this.amountOf(key) + by;
    if (amount < 0)
      throw new RangeError(
        `${key.account} holds ${-amount} less ${key.resource} ${key.asset} on ${key.venue} than is released`,
      );
    if (amount === 0) this.lines.delete(key.name);
    else this.lines.set(key.name, { key, amount });
    return key;
  }
}
