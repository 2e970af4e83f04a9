import type { Clock } from '#libs/platform/time/clock.js';
import { epochSeconds } from '../epoch.js';
import {
  UNAUTHORIZED,
  UNAVAILABLE,
  type EnrolledUser,
  type Enrolment,
  type Principal,
  type Verification,
} from '../principal.js';
import { within } from '../quick-query.js';
import type { IdentityFeed, TokenState } from '../revocation/identity-feed.js';
import type { IdentityWatch } from '../revocation/identity-watch.js';
import { isExpired, isFromTheFuture, type Claims } from './claims.js';
import type { GenuineToken, TokenReader } from './token-reader.js';

/** How long a caller waits for the database. */
const LOOKUP_MS = 1_000;

interface CachedVerification {
  readonly user: EnrolledUser;
  readonly verification: Verification;
}

/**
 * Verifies bearer tokens for one service. Checks the signature once per token, and expiry, revocation and the user's enrolment on
 * every call. Synchronous unless it has to ask the database.
 */
export class TokenVerifier {
  /** Caches results, so that the principal object stays the same while the user is unchanged. */
  private readonly verifications = new WeakMap<GenuineToken, CachedVerification>();

  constructor(
    private readonly reader: TokenReader,
    private readonly watch: IdentityWatch,
    private readonly feed: IdentityFeed,
    private readonly clock: Clock,
    private readonly service: string,
  ) {}

  verify(token: string): Verification | Promise<Verification> {
    const ring = this.watch.keys();
    return ring === undefined ? UNAVAILABLE : this.verifyGenuine(this.reader.read(token, ring));
  }

  /** Returns a function that verifies the same token repeatedly, and reads its text only once. */
  follow(token: string): () => Verification | Promise<Verification> {
    let genuine: GenuineToken | undefined;
    return () => {
      const ring = this.watch.keys();
      if (ring === undefined) return UNAVAILABLE;
      // The key may have been withdrawn since.
      if (genuine === undefined || ring.verifier(genuine.kid) === undefined) {
        genuine = this.reader.read(token, ring);
      }
      return this.verifyGenuine(genuine);
    };
  }

  private verifyGenuine(genuine: GenuineToken | undefined): Verification | Promise<Verification> {
    if (genuine === undefined || !this.isWithinLifetime(genuine.claims)) return UNAUTHORIZED;
    const state = this.watch.stateOf(genuine.claims);
    return state === undefined ? this.verifyInDatabase(genuine) : this.verificationOf(genuine, state);
  }

  /** If revocations cannot be read, the token is refused. */
  private async verifyInDatabase(genuine: GenuineToken): Promise<Verification> {
    try {
      const state = await within(this.clock, LOOKUP_MS, this.feed.stateOf(genuine.claims));
      return this.isWithinLifetime(genuine.claims) ? this.verificationOf(genuine, state) : UNAUTHORIZED;
    } catch {
      return UNAVAILABLE;
    }
  }

  private isWithinLifetime(claims: Claims): boolean {
    const now = epochSeconds(this.clock);
    return !isExpired(claims, now) && !isFromTheFuture(claims, now);
  }

  private verificationOf(genuine: GenuineToken, state: TokenState): Verification {
    const enrolment = state === 'refused' ? undefined : state.enrolments.get(this.service);
    if (state === 'refused' || enrolment === undefined) return UNAUTHORIZED;
    const cached = this.verifications.get(genuine);
    if (cached?.user === state) return cached.verification;
    const verification: Verification = { ok: true, principal: principalOf(genuine.claims, state, enrolment) };
    this.verifications.set(genuine, { user: state, verification });
    return verification;
  }
}

function principalOf(
  { sid, jti, exp }: Claims,
  { accountId, email, displayName }: EnrolledUser,
  { roles, capabilities }: Enrolment,
): Principal {
  return { accountId, email, displayName, roles, capabilities, sid, jti, expiresAt: exp };
}
