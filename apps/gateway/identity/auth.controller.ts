import { Injectable } from '@nestjs/common';
import { Endpoint } from '#libs/edge/endpoint-decorator.js';
import type { CallOf } from '#libs/edge/endpoint.js';
import { errorReply } from '#libs/edge/reply/flat-errors.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { AUTHORITY_UNAVAILABLE, UNAUTHORIZED } from '#libs/auction/api/refusals.js';
import { SigningKeys } from '#libs/identity/keys/signing-keys.js';
import { LoginService } from '#libs/identity/sessions/login-service.js';
import { CLEARED_COOKIE, sessionCookie } from '#libs/identity/sessions/session-cookie.js';
import { SessionService } from '#libs/identity/sessions/session-service.js';
import { jwks, login, logout, logoutAll, refresh } from './auth-endpoints.js';

const RATE_LIMITED = errorReply(429, 'login_rate_limited');
const DONE: Reply = { status: 204, headers: { 'set-cookie': CLEARED_COOKIE } };

type RefusedCall = 'invalid' | 'unauthorized' | 'throttled' | 'unavailable';

/**
 * Sessions over HTTP. These endpoints check the token themselves, because an expired token may still be
 * refreshed.
 */
@Injectable()
export class AuthController {
  constructor(
    private readonly logins: LoginService,
    private readonly sessions: SessionService,
    private readonly keys: SigningKeys,
  ) {}

  @Endpoint(login)
  async login({ body, remoteAddress }: CallOf<typeof login>): Promise<Reply> {
    const result = await this.logins.login(body.email, body.password, remoteAddress);
    return result.ok ? issued(result) : refusal(result.reason);
  }

  @Endpoint(refresh)
  async refresh({ bearerToken }: CallOf<typeof refresh>): Promise<Reply> {
    const result = await this.sessions.refresh(bearerToken ?? '');
    return result.ok ? issued(result) : refusal(result.reason);
  }

  @Endpoint(logout)
  async logout({ bearerToken }: CallOf<typeof logout>): Promise<Reply> {
    const result = await this.sessions.logout(bearerToken ?? '');
    return result.ok ? DONE : refusal(result.reason);
  }

  @Endpoint(logoutAll)
  async logoutAll({ bearerToken }: CallOf<typeof logoutAll>): Promise<Reply> {
    const result = await this.sessions.logoutAll(bearerToken ?? '');
    return result.ok ? DONE : refusal(result.reason);
  }

  @Endpoint(jwks)
  jwks(): Reply {
    const document = this.keys.jwks();
    return document === undefined ? AUTHORITY_UNAVAILABLE : { status: 200, body: document };
  }
}

function issued({ access_token, expires_at }: { access_token: string; expires_at: string }): Reply {
  const headers = { 'set-cookie': sessionCookie(access_token) };
  return { status: 200, body: { access_token, expires_at }, headers };
}

function refusal(reason: RefusedCall): Reply {
  if (reason === 'throttled') return RATE_LIMITED;
  return reason === 'unavailable' ? AUTHORITY_UNAVAILABLE : UNAUTHORIZED;
}
