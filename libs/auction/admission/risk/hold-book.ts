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

/**
 * Additions that are not yet certain, on top of what is held already. They either become part of the book or are
 * forgotten.
 */
export class HoldDraft {
  private readonly additions = new Map<string, Line>();

  constructor(
    private readonly held: HeldAmounts,
    private readonly ring: AccountKeyCache,
  ) {}

  total(key: AccountKey): Atoms {
    return this.held.amountOf(key) + (this.additions.get(key.name)?.amount ?? 0);
  }

  /** Undefined where nothing is added. */
  additionTo(key: AccountKey): Atoms | undefined {
    return this.additions.get(key.name)?.amount;
  }

  /** Of each resource the larger of `current`, which the book has already, and `next`. */
  raise(account: string, current: readonly Hold[], next: readonly Hold[]): void {
    for (const hold of next) {
      let more = hold.amount;
      for (const had of current) if (isSameResource(had, hold)) more -= had.amount;
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

/** What this shard holds, summed over its quotes and auctions. The table is made to say the same; never the other way round. */
export class HoldBook implements HeldAmounts {
  private readonly lines = new Map<string, Line>();

  constructor(private readonly ring: AccountKeyCache) {}

  get size(): number {
    return this.lines.size;
  }

  amountOf(key: AccountKey): Atoms {
    return this.lines.get(key.name)?.amount ?? 0;
  }

  /** What it says of these keys now, whatever it says later. */
  amountsOf(keys: readonly AccountKey[]): HeldAmounts {
    const amounts = new Map(keys.map((key) => [key.name, this.amountOf(key)]));
    return { amountOf: ({ name }) => amounts.get(name) ?? 0 };
  }

  add(account: string, holds: readonly Hold[]): void {
    for (const hold of holds) this.change(this.ring.of(account, hold), hold.amount);
  }

  /** The keys that changed. Setting free what was never held is a bug of the caller, and must not lend to others. */
  remove(account: string, holds: readonly Hold[]): AccountKey[] {
    return holds.map((hold) => this.change(this.ring.of(account, hold), -hold.amount));
  }

  accept(draft: HoldDraft): void {
    for (const { key, amount } of draft.lines()) this.change(key, amount);
  }

  /** What was accepted has come to nothing. */
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
