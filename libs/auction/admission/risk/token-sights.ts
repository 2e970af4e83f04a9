import type { Atoms } from '#libs/base/money.js';
import type { AccountKey } from './resource-key.js';

/** What was last seen of the tokens that an account has of one outcome. */
export interface TokenSight {
  /** Undefined where the authority says nothing of them. */
  readonly amount?: Atoms;
  /** Set aside of them by the other shards. */
  readonly others?: Atoms;
}

/** Beyond so many all are forgotten: they are learned again by looking. */
const MOST_SIGHTS = 100_000;

/**
 * How a sale is covered depends on the tokens that the seller has. What was seen of them lately is what will most often be there
 * still; the database is asked whether it is.
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
