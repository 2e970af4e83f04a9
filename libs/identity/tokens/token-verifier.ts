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

/** How long a caller waits for the database if memory cannot tell. */
const ASK_MS = 1_000;

interface Answered {
  readonly user: EnrolledUser;
  readonly answer: Verification;
}

/**
 * Identifies the principal of a bearer token for one service. Checks the signature once a token, and its time, revocation and the
 * subject's enrolment on every call. Replies at once unless it has to ask the database.
 */
export class TokenVerifier {
  /** The same result, and so the same principal object, while nothing about it has changed. */
  private readonly answers = new WeakMap<GenuineToken, Answered>();

  constructor(
    private readonly reader: TokenReader,
    private readonly watch: IdentityWatch,
    private readonly feed: IdentityFeed,
    private readonly clock: Clock,
    private readonly service: string,
  ) {}

  verify(token: string): Verification | Promise<Verification> {
    const ring = this.watch.keys();
    return ring === undefined ? UNAVAILABLE : this.judge(this.reader.read(token, ring));
  }

  /** The same for a token that is checked again and again: its text, which cannot change, is read once. */
  follow(token: string): () => Verification | Promise<Verification> {
    let genuine: GenuineToken | undefined;
    return () => {
      const ring = this.watch.keys();
      if (ring === undefined) return UNAVAILABLE;
      // A key may be withdrawn before its time.
      if (genuine === undefined || ring.verifier(genuine.kid) === undefined) {
        genuine = this.reader.read(token, ring);
      }
      return this.judge(genuine);
    };
  }

  private judge(genuine: GenuineToken | undefined): Verification | Promise<Verification> {
    if (genuine === undefined || !this.isTimely(genuine.claims)) return UNAUTHORIZED;
    const state = this.watch.stateOf(genuine.claims);
    return state === undefined ? this.ask(genuine) : this.answer(genuine, state);
  }

  /** A failure to read revocations must never let a token through. */
  private async ask(genuine: GenuineToken): Promise<Verification> {
    try {
      const state = await within(this.clock, ASK_MS, this.feed.stateOf(genuine.claims));
      return this.isTimely(genuine.claims) ? this.answer(genuine, state) : UNAUTHORIZED;
    } catch {
      return UNAVAILABLE;
    }
  }

  private isTimely(claims: Claims): boolean {
    const now = epochSeconds(this.clock);
    return !isExpired(claims, now) && !isFromTheFuture(claims, now);
  }

  private answer(genuine: GenuineToken, state: TokenState): Verification {
    const enrolment = state === 'refused' ? undefined : state.enrolments.get(this.service);
    if (state === 'refused' || enrolment === undefined) return UNAUTHORIZED;
    const known = this.answers.get(genuine);
    if (known?.user === state) return known.answer;
    const answer: Verification = { ok: true, principal: principalOf(genuine.claims, state, enrolment) };
    this.answers.set(genuine, { user: state, answer });
    return answer;
  }
}

function principalOf(
  { sid, jti, exp }: Claims,
  { accountId, email, displayName }: EnrolledUser,
  { roles, capabilities }: Enrolment,
): Principal {
  return { accountId, email, displayName, roles, capabilities, sid, jti, expiresAt: exp };
}
