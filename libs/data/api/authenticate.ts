import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ApiKeyWatch } from '#libs/identity/api-keys/api-key-watch.js';
import type { AuthThrottle } from '#libs/identity/api-keys/auth-throttle.js';
import type { KeyCheck, KeyVerdict } from '#libs/identity/api-keys/key-check.js';
import type { KeyUses } from '#libs/identity/api-keys/key-uses.js';
import { presentedIn, type Presented } from '#libs/identity/api-keys/presented.js';
import type { TokenRefusal, TokenRefusals } from '#libs/identity/tokens/token-refusals.js';
import type { TokenVerifier } from '#libs/identity/tokens/token-verifier.js';
import { DataCaller, type CredentialOutcome, type CallerRefusal, type DataCallers } from './callers.js';

export interface DataIdentityPorts {
  readonly keys: ApiKeyWatch;
  readonly check: KeyCheck;
  readonly throttle: AuthThrottle;
  readonly uses: KeyUses;
  readonly verifier: TokenVerifier;
  readonly refusals: TokenRefusals;
  readonly adminSecrets: readonly string[];
}

type MaybePromise<T> = T | Promise<T>;
type KeyParts = Extract<Presented, { readonly kind: 'key' }>;

const PARTIAL = refused(401, 'X-Api-Key and X-Api-Secret required with X-Client-Id');
const WRONG = refused(401, 'Invalid API credentials');
const ELSEWHERE = refused(403, 'IP address not allowed');
const THROTTLED = refused(429, 'Too many authentication failures');
const UNVERIFIABLE = refused(503, 'Credentials cannot be verified at present');
const OPERATOR = new DataCaller({ userId: '', kind: 'admin', isInvited: true });

const TOKEN_WORDS: Readonly<Record<Exclude<TokenRefusal, object | 'unavailable'>, string>> = {
  garbage: 'Invalid token',
  signature: 'Invalid token signature',
  expired: 'Token has expired',
  audience: 'Invalid token audience',
  version: 'Token schema outdated',
  'token revoked': 'Token has been revoked',
  'session revoked': 'Session has been revoked',
};

/** Finds the caller by API key, by admin secret or by session, in this order. Only wrong keys count as failures of an address. */
export class DataAuthenticator implements DataCallers {
  private readonly secrets: readonly Buffer[];

  constructor(private readonly ports: DataIdentityPorts) {
    this.secrets = ports.adminSecrets.map(digestOf);
  }

  isAdmin({ headers }: IncomingMessage): boolean {
    const given = headers['x-admin-secret'];
    if (headers['x-client-id'] !== undefined || typeof given !== 'string') return false;
    const digest = digestOf(given);
    // Compares with every secret, so that the time does not tell which one matched.
    return this.secrets.filter((secret) => timingSafeEqual(secret, digest)).length > 0;
  }

  callerOf(request: IncomingMessage, address: string): MaybePromise<CredentialOutcome> {
    const presented = presentedIn({ headers: request.headers, takesCookie: true });
    const isAdmin = this.isAdmin(request);
    if (!isAdmin && (presented.kind === 'nothing' || presented.kind === 'parts')) return undefined;
    const authenticate = (): MaybePromise<CredentialOutcome> => {
      if (this.ports.throttle.isOver(address)) return THROTTLED;
      if (isAdmin) return OPERATOR;
      if (presented.kind === 'key') return this.byKey(presented, address);
      return presented.kind === 'token' ? this.byToken(presented.token) : undefined;
    };
    const { keys } = this.ports;
    if (keys.isFresh()) return authenticate();
    return keys.makeFresh().then((isFresh) => (isFresh ? authenticate() : UNVERIFIABLE));
  }

  private byKey(
    { client_id, api_key, api_secret }: KeyParts,
    address: string,
  ): MaybePromise<CredentialOutcome> {
    if (isMissing(api_key) || isMissing(api_secret)) return PARTIAL;
    const digest = this.ports.check.digestOf({ client_id, api_key, api_secret });
    if (digest === undefined) return this.counted(address);
    const verdict = this.ports.check.judge(client_id, digest, address);
    if (verdict instanceof Promise) return verdict.then((known) => this.keyOutcome(known, address));
    return this.keyOutcome(verdict, address);
  }

  private keyOutcome(verdict: KeyVerdict, address: string): MaybePromise<CredentialOutcome> {
    if (verdict === 'wrong') return this.counted(address);
    if (verdict === 'elsewhere') return ELSEWHERE;
    if (verdict === 'unverifiable') return UNVERIFIABLE;
    const { key, user } = verdict;
    // The key is right, but its user may not log in.
    if (user === 'refused') return WRONG;
    this.ports.uses.note(key.client_id);
    return new DataCaller({ userId: key.account_id, kind: 'key', scopes: key.scopes, isInvited: true });
  }

  private byToken(token: string | undefined): MaybePromise<CredentialOutcome> {
    if (token === undefined) return tokenRefusal('garbage');
    const verified = this.ports.verifier.verify(token);
    if (!(verified instanceof Promise) && verified.ok) return session(verified.principal.accountId, true);
    return this.slowlyByToken(token, verified);
  }

  private async slowlyByToken(
    token: string,
    verified: ReturnType<TokenVerifier['verify']>,
  ): Promise<CredentialOutcome> {
    const known = await verified;
    if (known.ok) return session(known.principal.accountId, true);
    if (known.reason === 'unavailable') return UNVERIFIABLE;
    const why = await this.ports.refusals.why(token);
    return typeof why === 'object' ? session(why.stranger, false) : tokenRefusal(why);
  }

  /** If the failure cannot be counted, the caller gets no verdict. Otherwise it could guess without limit. */
  private async counted(address: string): Promise<CredentialOutcome> {
    try {
      return (await this.ports.throttle.countFailure(address)) ? WRONG : THROTTLED;
    } catch {
      return UNVERIFIABLE;
    }
  }
}

function session(userId: string, isInvited: boolean): DataCaller {
  return new DataCaller({ userId, kind: 'session', isInvited });
}

function tokenRefusal(why: Exclude<TokenRefusal, object>): CallerRefusal {
  if (why === 'unavailable') return UNVERIFIABLE;
  return refused(401, `${TOKEN_WORDS[why]} - please log in again`);
}

function refused(status: CallerRefusal['status'], detail: string): CallerRefusal {
  return { status, detail };
}

function isMissing(part: string | undefined): part is undefined {
  return part === undefined || part === '';
}

function digestOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
