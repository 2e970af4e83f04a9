import jwt from 'jsonwebtoken';
import type { Clock } from '#libs/platform/time/clock.js';
import { epochSeconds } from '../epoch.js';
import type { KeyRing } from '../keys/key-ring.js';
import { within } from '../quick-query.js';
import type { IdentityFeed } from '../revocation/identity-feed.js';
import type { IdentityWatch } from '../revocation/identity-watch.js';
import { isExpired, isForUs, isFromTheFuture, isOfPresentVersion, parseBareClaims } from './claims.js';
import { MAX_TOKEN_LENGTH } from './token-reader.js';

/** In the order in which they are checked. A stranger is a user with a valid session and no enrolment in the service. */
export type TokenRefusal =
  | 'garbage'
  | 'signature'
  | 'expired'
  | 'audience'
  | 'version'
  | 'token revoked'
  | 'session revoked'
  | 'unavailable'
  | { readonly stranger: string };

type BareClaims = NonNullable<ReturnType<typeof parseBareClaims>>;

interface ReadToken {
  readonly kid: string;
  readonly payload: object;
  readonly claims: BareClaims;
}

const LOOKUP_MS = 1_000;
const ALGORITHM = 'RS256';

/** Finds the reason why the verifier has refused a token, for services whose replies contain it. */
export class TokenRefusals {
  constructor(
    private readonly watch: IdentityWatch,
    private readonly feed: IdentityFeed,
    private readonly clock: Clock,
  ) {}

  why(token: string): TokenRefusal | Promise<TokenRefusal> {
    const ring = this.watch.keys();
    if (ring === undefined) return 'unavailable';
    const now = epochSeconds(this.clock);
    const read = readUnverified(token);
    if (read === undefined || isFromTheFuture(read.claims, now)) return 'garbage';
    if (!isSigned(token, read, ring)) return 'signature';
    if (isExpired(read.claims, now)) return 'expired';
    if (!isForUs(read.payload)) return 'audience';
    if (!isOfPresentVersion(read.payload)) return 'version';
    return this.reasonInDatabase(read.claims);
  }

  private async reasonInDatabase(claims: BareClaims): Promise<TokenRefusal> {
    try {
      const status = await within(this.clock, LOOKUP_MS, this.feed.standingOf(claims));
      if (status.token_revoked) return 'token revoked';
      return status.session_revoked || !status.is_active ? 'session revoked' : { stranger: claims.sub };
    } catch {
      return 'unavailable';
    }
  }
}

/** Reads a token without checking its signature. Undefined for text that is not one of our tokens. */
function readUnverified(token: string): ReadToken | undefined {
  if (token.length > MAX_TOKEN_LENGTH) return undefined;
  const [header = '', content = '', ...rest] = token.split('.');
  if (rest.length !== 1 || ![header, content].every(isCanonical)) return undefined;
  const { kid, alg, crit } = objectIn(header) ?? {};
  if (alg !== ALGORITHM || typeof kid !== 'string' || crit !== undefined) return undefined;
  const payload = objectIn(content);
  const claims = parseBareClaims(payload);
  return payload === undefined || claims === undefined ? undefined : { kid, payload, claims };
}

function isSigned(token: string, { kid }: ReadToken, ring: KeyRing): boolean {
  const key = ring.verifier(kid);
  if (key === undefined || !token.split('.').every(isCanonical)) return false;
  try {
    jwt.verify(token, key, { algorithms: [ALGORITHM], ignoreExpiration: true, ignoreNotBefore: true });
    return true;
  } catch {
    return false;
  }
}

function isCanonical(part: string): boolean {
  return part !== '' && Buffer.from(part, 'base64url').toString('base64url') === part;
}

function objectIn(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
