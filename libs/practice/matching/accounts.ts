import type { OutcomeIndex, PriceMicros, SizeMicros } from './order-book.js';

/** Millionths of a millionth of a dollar, so that price times size is exact. */
export type Cash = bigint;

export interface CashBalance {
  readonly total: Cash;
  /** Reserved for resting orders. */
  readonly held: Cash;
}

export interface Holding {
  readonly total: SizeMicros;
  readonly held: SizeMicros;
}

export function costOf(price: PriceMicros, size: SizeMicros): Cash {
  return BigInt(price) * BigInt(size);
}

const NO_CASH: CashBalance = { total: 0n, held: 0n };
const NO_SHARES: Holding = { total: 0, held: 0 };

/**
 * What each account has, and how much of it is reserved. Shares and holds are never negative; a caller that would
 * make them so has a bug. Cash can be negative through fees, which are rounded up for every trade.
 */
export class ExchangeAccounts {
  private readonly cash = new Map<string, CashBalance>();
  private readonly shares = new Map<string, Map<string, Holding>>();

  cashOf(account: string): CashBalance {
    return this.cash.get(account) ?? NO_CASH;
  }

  holding(account: string, market: string, outcome: OutcomeIndex): Holding {
    return this.shares.get(keyOf(market, outcome))?.get(account) ?? NO_SHARES;
  }

  /** All accounts with shares of this outcome. */
  holders(market: string, outcome: OutcomeIndex): Iterable<readonly [account: string, holding: Holding]> {
    return this.shares.get(keyOf(market, outcome)) ?? [];
  }

  pay(account: string, amount: Cash): void {
    const { total, held } = this.cashOf(account);
    this.setCash(account, { total: total + amount, held });
  }

  /** Reserves cash, or frees it if the amount is negative. */
  hold(account: string, amount: Cash): void {
    const { total, held } = this.cashOf(account);
    this.setCash(account, { total, held: held + amount });
  }

  move(account: string, market: string, outcome: OutcomeIndex, size: SizeMicros): void {
    const { total, held } = this.holding(account, market, outcome);
    this.setHolding(account, keyOf(market, outcome), { total: total + size, held });
  }

  holdShares(account: string, market: string, outcome: OutcomeIndex, size: SizeMicros): void {
    const { total, held } = this.holding(account, market, outcome);
    this.setHolding(account, keyOf(market, outcome), { total, held: held + size });
  }

  private setCash(account: string, balance: CashBalance): void {
    if (balance.held < 0n) throw new RangeError(`${account} would hold less than nothing`);
    this.cash.set(account, balance);
  }

  private setHolding(account: string, key: string, holding: Holding): void {
    if (holding.held < 0 || holding.total < holding.held) throw new RangeError(`${account} would owe shares`);
    const holders = this.shares.get(key) ?? new Map<string, Holding>();
    this.shares.set(key, holders);
    if (holding.total === 0) holders.delete(account);
    else holders.set(account, holding);
  }
}

function keyOf(market: string, outcome: OutcomeIndex): string {
  return `${market}\u0000${outcome}`;
}
