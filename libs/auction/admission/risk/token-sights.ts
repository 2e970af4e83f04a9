import type { Atoms } from '#libs/base/money.js';
import type { AccountKey } from './resource-key.js';

/** The balance of one account's tokens, as last read. */
export interface TokenSight {
  /** Undefined if there is no evidence of them. */
  readonly amount?: Atoms;
  /** How much of them the other shards have reserved. */
  readonly others?: Atoms;
}

/** Beyond this number the cache is cleared; balances are read again. */
const MOST_SIGHTS = 100_000;

/**
 * Caches balances of tokens, because the cover of a sale depends on them. The database checks whether the cached
 * balance is still right.
 */
export class TokenSights {
  private readonly seen = new Map<string, TokenSight>();

  of(key: AccountKey): TokenSight | undefined {
    return this.seen.get(key.name);
  }

  note(key: AccountKey, sight: TokenSight): void {
    if (this.seen.size >= MOST_SIGHTS) this.seen.clear();
    this.seen.set(key.name, sight);
  }
}
