import type { KeyObject } from 'node:crypto';
import { publicJwk, type PublicJwk, type SigningKey } from './signing-key.js';

export type KeyState = 'NEXT' | 'ACTIVE' | 'RETIRED';

/**
 * The signing keys. The time alone decides which one signs, so no process has to switch and none can miss it. Tokens of all keys
 * are accepted.
 */
export class KeyRing {
  private readonly newestFirst: readonly SigningKey[];
  private readonly byKid: ReadonlyMap<string, SigningKey>;

  constructor(keys: readonly SigningKey[]) {
    this.newestFirst = [...keys].sort((a, b) => b.activeFrom - a.activeFrom || (a.kid < b.kid ? -1 : 1));
    this.byKid = new Map(keys.map((key) => [key.kid, key]));
  }

  get(kid: string): SigningKey | undefined {
    return this.byKid.get(kid);
  }

  verifier(kid: string): KeyObject | undefined {
    return this.byKid.get(kid)?.publicKey;
  }

  /** By a slow clock even the first key may not be active yet. It signs nevertheless. */
  signer(nowSeconds: number): SigningKey | undefined {
    return this.newestFirst.find((key) => key.activeFrom <= nowSeconds) ?? this.newestFirst.at(-1);
  }

  /** The key that becomes active next. */
  next(nowSeconds: number): SigningKey | undefined {
    const signer = this.signer(nowSeconds);
    return this.newestFirst.findLast((key) => key.activeFrom > nowSeconds && key !== signer);
  }

  states(nowSeconds: number): ReadonlyMap<string, KeyState> {
    const signer = this.signer(nowSeconds);
    const stateOf = (key: SigningKey): KeyState => {
      if (key === signer) return 'ACTIVE';
      return key.activeFrom > nowSeconds ? 'NEXT' : 'RETIRED';
    };
    return new Map(this.newestFirst.map((key) => [key.kid, stateOf(key)]));
  }

  jwks(): { readonly keys: readonly PublicJwk[] } {
    return { keys: this.newestFirst.map(publicJwk) };
  }
}
