import type { Atoms } from '#libs/auction/money.js';
import type { Hold } from '#libs/auction/terms.js';
import { accountResourceName, resourceName, type AccountKey, type ResourceKey } from './resource-key.js';

interface Line {
  readonly key: AccountKey;
  readonly amount: Atoms;
}

/**
 * Additions that are not yet certain, on top of what the book said at one moment. They either become part of the book or are
 * forgotten.
 */
export class HoldDraft {
  private readonly additions = new Map<string, Line>();

  /** `held` by name of account and resource. */
  constructor(private readonly held: ReadonlyMap<string, Atoms>) {}

  total(account: string, key: ResourceKey): Atoms {
    const name = accountResourceName(account, key);
    return (this.held.get(name) ?? 0) + (this.additions.get(name)?.amount ?? 0);
  }

  /** Of each resource the larger of `current`, which the book has already, and `next`. */
  raise(account: string, current: readonly Hold[], next: readonly Hold[]): void {
    const had = new Map<string, Atoms>();
    for (const hold of current) {
      const name = resourceName(hold);
      had.set(name, (had.get(name) ?? 0) + hold.amount);
    }
    for (const hold of next) {
      const more = hold.amount - (had.get(resourceName(hold)) ?? 0);
      if (more > 0) this.add(account, hold, more);
    }
  }

  keys(): AccountKey[] {
    return [...this.additions.values()].map((line) => line.key);
  }

  lines(): Iterable<Line> {
    return this.additions.values();
  }

  private add(account: string, { venue, resource, asset }: Hold, more: Atoms): void {
    const key = { account, venue, resource, asset };
    const name = accountResourceName(account, key);
    this.additions.set(name, { key, amount: (this.additions.get(name)?.amount ?? 0) + more });
  }
}

/** What this shard holds, summed over its quotes and auctions. The table is made to say the same; never the other way round. */
export class HoldBook {
  private readonly lines = new Map<string, Line>();

  get size(): number {
    return this.lines.size;
  }

  private amountOf(name: string): Atoms {
    return this.lines.get(name)?.amount ?? 0;
  }

  /** What it says of these keys now. */
  amountsOf(keys: Iterable<AccountKey>): ReadonlyMap<string, Atoms> {
    const amounts = new Map<string, Atoms>();
    for (const key of keys) {
      const name = accountResourceName(key.account, key);
      amounts.set(name, this.amountOf(name));
    }
    return amounts;
  }

  add(account: string, holds: readonly Hold[]): void {
    for (const hold of holds) this.change(account, hold, hold.amount);
  }

  /** The keys that changed. Setting free what was never held is a bug of the caller, and must not lend to others. */
  remove(account: string, holds: readonly Hold[]): AccountKey[] {
    return holds.map((hold) => this.change(account, hold, -hold.amount));
  }

  accept(draft: HoldDraft): void {
    for (const { key, amount } of draft.lines()) this.change(key.account, { ...key, amount }, amount);
  }

  /** What was accepted has come to nothing. */
  takeBack(draft: HoldDraft): AccountKey[] {
    return [...draft.lines()].map(({ key, amount }) => this.change(key.account, { ...key, amount }, -amount));
  }

  keys(): AccountKey[] {
    return [...this.lines.values()].map((line) => line.key);
  }

  private change(account: string, { venue, resource, asset }: Hold, by: Atoms): AccountKey {
    const key = { account, venue, resource, asset };
    const amount = this.amountOf(accountResourceName(account, key)) + by;
    if (amount < 0)
      throw new RangeError(
        `${account} holds ${-amount} less ${resource} ${asset} on ${venue} than is released`,
      );
    this.set({ key, amount });
    return key;
  }

  private set(line: Line): void {
    const name = accountResourceName(line.key.account, line.key);
    if (line.amount === 0) this.lines.delete(name);
    else this.lines.set(name, line);
  }
}
