import jwt from 'jsonwebtoken';
import { randomUUID } from 'node:crypto';
import type { Clock } from '#libs/platform/time/clock.js';
import { epochSeconds, instantOfSeconds } from '../epoch.js';
import type { IdentityWatch } from '../revocation/identity-watch.js';
import {
  AUDIENCE,
  type Claims,
  CLOCK_ALLOWANCE_S,
  isFromTheFuture,
  ISSUER,
  MAX_TOKEN_S,
  TOKEN_VERSION,
} from '../tokens/claims.js';
import type { TokenReader } from '../tokens/token-reader.js';
import {
  type IssuedToken,
  type LogoutResult,
  type RefreshResult,
  type Refusal,
  refused,
  unlessUnreachable,
} from './outcomes.js';
import type { SessionLifetimes } from './session-lifetimes.js';
import type { SessionStore } from './session-store.js';
import type { SigningKey } from '../keys/signing-key.js';

type TokenSubject = Omit<TokenContent, 'jti' | 'iat'>;

/** Opens, refreshes and ends sessions. A session is one login with one `sid` and any number of tokens. */
export class SessionService {
  constructor(
    private readonly store: SessionStore,
    private readonly reader: TokenReader,
    private readonly watch: IdentityWatch,
    private readonly lifetimes: SessionLifetimes,
    private readonly clock: Clock,
  ) {}

  /** Opens a session for a user that was just authenticated. */
  async open(user: {
    readonly accountId: string;
    readonly email: string;
  }): Promise<IssuedToken | Refusal<'unavailable'>> {
    const now = epochSeconds(this.clock);
    const maxUntil = now + this.lifetimes.sessionSeconds;
    const sid = randomUUID();
    await this.store.open(sid, user.accountId, now, maxUntil);
    return this.issue(
      { sub: user.accountId, sid, email: user.email, exp: this.endOfToken(now, maxUntil) },
      now,
    );
  }

  /** Issues another token of the same session. The presented one stays valid. */
  refresh(token: string): Promise<RefreshResult> {
    return this.withClaims(token, async (claims) => {
      const session = await this.store.liveSessionOf(claims);
      if (session === undefined) return refused('unauthorized');
      const now = epochSeconds(this.clock);
      // The setting may have been shortened since the login.
      const end = Math.min(session.max_until, session.created_at + this.lifetimes.sessionSeconds);
      if (end <= now) return refused('unauthorized');
      const { sub, sid } = claims;
      return this.issue({ sub, sid, email: session.email, exp: this.endOfToken(now, end) }, now);
    });
  }

  /** Ends this token. Other tokens of its session stay valid. */
  logout(token: string): Promise<LogoutResult> {
    return this.revoke('TOKEN', token);
  }

  /** Ends the session with all its tokens. */
  logoutAll(token: string): Promise<LogoutResult> {
    return this.revoke('SESSION', token);
  }

  private revoke(kind: 'TOKEN' | 'SESSION', token: string): Promise<LogoutResult> {
    return this.withClaims(token, async (claims) => {
      const until = await this.store.revoke(kind, claims, epochSeconds(this.clock));
      if (until === undefined) return refused('unauthorized');
      this.watch.noteRevoked({ id: kind === 'TOKEN' ? claims.jti : claims.sid, until });
      return { ok: true };
    });
  }

  /** Accepts also an expired token, as long as it can be refreshed. */
  private async withClaims<T>(
    token: string,
    work: (claims: Claims) => Promise<T>,
  ): Promise<T | Refusal<'unauthorized' | 'unavailable'>> {
    const ring = this.watch.keys();
    if (ring === undefined) return refused('unavailable');
    const claims = this.reader.read(token, ring)?.claims;
    const now = epochSeconds(this.clock);
    if (claims === undefined || isFromTheFuture(claims, now)) return refused('unauthorized');
    if (now > claims.exp + this.lifetimes.refreshSeconds) return refused('unauthorized');
    return unlessUnreachable(() => work(claims));
  }

  private endOfToken(now: number, endOfSession: number): number {
    const longest = now - CLOCK_ALLOWANCE_S + MAX_TOKEN_S;
    return Math.min(now + this.lifetimes.tokenSeconds, longest, endOfSession);
  }

  private issue(subject: TokenSubject, now: number): IssuedToken | Refusal<'unavailable'> {
    const key = this.watch.keys()?.signer(now);
    if (key === undefined) return refused('unavailable');
    const token = signToken({ ...subject, jti: randomUUID(), iat: now - CLOCK_ALLOWANCE_S }, key);
    return { ok: true, access_token: token, expires_at: instantOfSeconds(subject.exp) };
  }
}

export interface TokenContent {
  readonly sub: string;
  readonly sid: string;
  readonly jti: string;
  readonly email: string;
  readonly iat: number;
  readonly exp: number;
}

export function signToken(content: TokenContent, key: SigningKey): string {
  const claims = { ...content, ver: TOKEN_VERSION, iss: ISSUER, aud: AUDIENCE };
  return jwt.sign(claims, key.privateKey, { algorithm: 'RS256', keyid: key.kid });
}
