import type { ApiCaller } from '#libs/identity/api-keys/authenticate.js';
import type { AuthThrottle } from '#libs/identity/api-keys/auth-throttle.js';
import type { LoginService } from '#libs/identity/sessions/login-service.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { errorOnly } from '../refusals.js';

const SESSIONS_ONLY = errorOnly(403, 'This call is for sessions, not for API keys');
const MISSING = errorOnly(401, 'X-Reauth must carry the password of the user');
const WRONG = errorOnly(401, 'X-Reauth is not the password of the user');
const THROTTLED = errorOnly(429, 'Too many failed authentications');
const UNAVAILABLE = errorOnly(503, 'The password cannot be checked at present');

/** Sessions must also show the password before they can see or change API keys. */
export class Reauthentication {
  constructor(
    private readonly logins: LoginService,
    private readonly throttle: AuthThrottle,
  ) {}

  /** Undefined if the password is right. */
  async refusalOf(
    { session }: ApiCaller,
    shown: string | undefined,
    peer: string,
  ): Promise<Reply | undefined> {
    if (session === undefined) return SESSIONS_ONLY;
    if (shown === undefined || shown === '') return MISSING;
    const confirmed = await this.logins.confirm(session.email, passwordIn(shown), peer);
    if (confirmed.ok) return undefined;
    if (confirmed.reason === 'invalid') return (await this.throttle.countFailure(peer)) ? WRONG : THROTTLED;
    return confirmed.reason === 'throttled' ? THROTTLED : UNAVAILABLE;
  }
}

/** Node decodes headers as Latin-1, but most clients send UTF-8. */
function passwordIn(header: string): string {
  const bytes = Buffer.from(header, 'latin1');
  const text = bytes.toString('utf8');
  return Buffer.from(text, 'utf8').equals(bytes) ? text : header;
}
