import { hash } from 'node:crypto';
import jwt from 'jsonwebtoken';
import type { KeyRing } from '../keys/key-ring.js';
import { BoundedCache } from './bounded-cache.js';
import { parseClaims, type Claims } from './claims.js';

export const MAX_TOKEN_LENGTH = 8_192;
const DEFAULT_CAPACITY = 20_000;

/** A token with our signature and all required claims. It may be expired or revoked, and its user may be gone. */
export interface GenuineToken {
  readonly kid: string;
  readonly claims: Claims;
}

/** Reads tokens and checks their signatures. Caches them by hash, so that each signature is checked only once. */
export class TokenReader {
  private readonly cache: BoundedCache<GenuineToken>;

  constructor(capacity: number = DEFAULT_CAPACITY) {
    this.cache = new BoundedCache(capacity);
  }

  read(token: string, ring: KeyRing): GenuineToken | undefined {
    if (token.length > MAX_TOKEN_LENGTH) return undefined;
    const digest = hash('sha256', token, 'base64');
    const known = this.cache.get(digest);
    if (known !== undefined) {
      // The key may have been withdrawn since.
      if (ring.verifier(known.kid) !== undefined) return known;
      this.cache.delete(digest);
      return undefined;
    }
    const genuine = check(token, ring);
    if (genuine !== undefined) this.cache.set(digest, genuine);
    return genuine;
  }
}

/** Base64url with stray bits or padding is refused, so that one token has exactly one text. */
function isCanonical(token: string): boolean {
  return token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}

function check(token: string, ring: KeyRing): GenuineToken | undefined {
  if (!isCanonical(token)) return undefined;
  try {
    const decoded = jwt.decode(token, { complete: true });
    const { kid, crit } = decoded?.header ?? {};
    if (typeof kid !== 'string' || crit !== undefined) return undefined;
    const key = ring.verifier(kid);
    if (key === undefined) return undefined;
    const payload = jwt.verify(token, key, {
      algorithms: ['RS256'],
      // Each call checks the time by our own clock; parseClaims(), which is stricter, checks the other claims.
      ignoreExpiration: true,
      ignoreNotBefore: true,
    });
    const claims = parseClaims(payload);
    return claims === undefined ? undefined : { kid, claims };
  } catch {
    return undefined;
  }
}
