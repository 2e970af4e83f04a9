import { deriveKey, type Derive } from './derive.js';
import { PRODUCTION_COST, type PasswordCost } from './password-cost.js';
import { decoyHash, matches, parsePasswordHash, type PasswordHash } from './password-hash.js';

/**
 * Checks a password. Does the same work for a user without a hash, if `cost` is the cost of the stored hashes.
 */
export class PasswordCheck {
  private readonly decoy: PasswordHash;

  constructor(
    cost: PasswordCost = PRODUCTION_COST,
    private readonly derive: Derive = deriveKey,
  ) {
    this.decoy = decoyHash(cost);
  }

  async isRight(password: string, storedHash: string | undefined): Promise<boolean> {
    const hash = storedHash === undefined ? undefined : parsePasswordHash(storedHash);
    const isMatch = await matches(password, hash ?? this.decoy, this.derive);
    return isMatch && hash !== undefined;
  }
}
