import type { Clock } from '#libs/platform/time/clock.js';
import type { Principal, Verification } from '../principal.js';
import type { IdentityFeed, TokenState } from '../revocation/identity-feed.js';
import type { IdentityWatch } from '../revocation/identity-watch.js';
import type { TokenVerifier } from '../tokens/token-verifier.js';
import type { KnownKey } from './api-key-rows.js';
import type { ApiKeyWatch } from './api-key-watch.js';
import type { AuthThrottle } from './auth-throttle.js';
import { KeyCheck, type KeyVerdict } from './key-check.js';
import type { KeyTriple, TripleSeal } from './key-triple.js';
import type { KeyUses } from './key-uses.js';
import { presentedIn, type PresentedParts } from './presented.js';
import { SESSION_SCOPES } from './scopes.js';

/** A caller with an API key or a session. */
export interface ApiCaller {
  readonly user_id: string;
  readonly auth_method: 'api_key' | 'session';
  readonly roles: ReadonlySet<string>;
  /** The granted scopes of a key, sorted. For a session, all scopes that endpoints require. */
  readonly scopes: readonly string[];
  /** Only for a key. */
  readonly client_id?: string;
  readonly orders_per_minute?: number;
  /** Only for a session. */
  readonly session?: Principal;
}

export interface CredentialRefusal {
  readonly status: 401 | 403 | 429 | 503;
  readonly error: string;
}

export type CallerOutcome =
  | { readonly ok: true; readonly caller: ApiCaller; readonly recheck: () => Rechecked }
  | { readonly ok: false; readonly refusal: CredentialRefusal };
/** The result of checking the same credentials again. Such failures are not counted. */
export type Rechecked = MaybePromise<ApiCaller | CredentialRefusal>;

type MaybePromise<T> = T | Promise<T>;

export interface CallCredentials extends PresentedParts {
  /** The peer address of the socket. */
  readonly peer: string;
  /** The reply to a complete but wrong triple. */
  readonly wrongTriple: 401 | 403;
}

export interface AuthenticatorPorts {
  readonly keys: ApiKeyWatch;
  readonly throttle: AuthThrottle;
  readonly seal: TripleSeal;
  readonly uses: KeyUses;
  readonly users: IdentityWatch;
  readonly feed: IdentityFeed;
  readonly verifier: TokenVerifier;
  readonly clock: Clock;
  /** The service in which users must be enrolled. */
  readonly service: string;
}

const NO_CREDENTIALS = refusal(401, 'Authentication required');
const INCOMPLETE = refusal(401, 'X-Client-Id, X-Api-Key and X-Api-Secret travel together');
const WRONG = { 401: refusal(401, 'Invalid API credentials'), 403: refusal(403, 'Invalid API credentials') };
const WRONG_ADDRESS = refusal(403, 'This API key may not be used from this address');
const NO_USER = refusal(401, 'The user of this API key is not active');
const BAD_TOKEN = refusal(401, 'Invalid or expired session token');
const THROTTLED = refusal(429, 'Too many failed authentications from this address');
const UNVERIFIABLE = refusal(503, 'Credentials cannot be verified at present');

/**
 * Authenticates callers by an API key or a session. Synchronous, except for a key that is not in memory and for a failure, which is
 * counted first.
 */
export class ApiAuthenticator {
  /** Caches callers, so that the object stays the same while key and user are unchanged. */
  private readonly callers = new WeakMap<
    KnownKey,
    { readonly user: TokenState; readonly caller: ApiCaller | CredentialRefusal }
  >();

  private readonly check: KeyCheck;

  constructor(private readonly ports: AuthenticatorPorts) {
    this.check = new KeyCheck(ports);
  }

  authenticate(parts: CallCredentials): MaybePromise<CallerOutcome> {
    const presented = presentedIn(parts);
    if (presented.kind === 'nothing') return refused(NO_CREDENTIALS);
    const { keys } = this.ports;
    if (keys.isFresh()) return this.authenticatePresented(parts, presented);
    return keys
      .makeFresh()
      .then((isFresh) => (isFresh ? this.authenticatePresented(parts, presented) : refused(UNVERIFIABLE)));
  }

  private authenticatePresented(
    parts: CallCredentials,
    presented: Exclude<ReturnType<typeof presentedIn>, { kind: 'nothing' }>,
  ): MaybePromise<CallerOutcome> {
    if (this.ports.throttle.isOver(parts.peer)) return refused(THROTTLED);
    if (presented.kind === 'parts') return this.refuseCounted(parts, INCOMPLETE);
    if (presented.kind === 'token') return this.byToken(parts, presented.token);
    const { client_id, api_key, api_secret } = presented;
    if (api_key === undefined || api_secret === undefined) return this.refuseCounted(parts, INCOMPLETE);
    return this.byKey(parts, { client_id, api_key, api_secret });
  }

  private byToken(parts: CallCredentials, token: string | undefined): MaybePromise<CallerOutcome> {
    if (token === undefined) return this.refuseCounted(parts, BAD_TOKEN);
    const verify = this.ports.verifier.follow(token);
    return after(verify(), (verified) => {
      if (verified.ok) return admitted(sessionCaller(verified.principal), () => after(verify(), rechecked));
      return verified.reason === 'unavailable' ? refused(UNVERIFIABLE) : this.refuseCounted(parts, BAD_TOKEN);
    });
  }

  private byKey(parts: CallCredentials, triple: KeyTriple): MaybePromise<CallerOutcome> {
    const wrong = WRONG[parts.wrongTriple];
    const digest = this.check.digestOf(triple);
    if (digest === undefined) return this.refuseCounted(parts, wrong);
    const { client_id } = triple;
    const recheck = (): Rechecked =>
      after(this.check.judge(client_id, digest, parts.peer), (verdict) =>
        this.callerOfVerdict(verdict, wrong),
      );
    return after(recheck(), (checked) => {
      if (!('status' in checked)) {
        this.ports.uses.note(client_id);
        return admitted(checked, recheck);
      }
      return checked === wrong ? this.refuseCounted(parts, wrong) : refused(checked);
    });
  }

  private callerOfVerdict(verdict: KeyVerdict, wrong: CredentialRefusal): ApiCaller | CredentialRefusal {
    switch (verdict) {
      case 'wrong':
        return wrong;
      case 'elsewhere':
        return WRONG_ADDRESS;
      case 'unverifiable':
        return UNVERIFIABLE;
      default:
        return this.keyCaller(verdict.key, verdict.user);
    }
  }

  private keyCaller(key: KnownKey, user: TokenState): ApiCaller | CredentialRefusal {
    const known = this.callers.get(key);
    if (known?.user === user) return known.caller;
    const caller = this.callerOf(key, user);
    this.callers.set(key, { user, caller });
    return caller;
  }

  private callerOf(key: KnownKey, user: TokenState): ApiCaller | CredentialRefusal {
    const enrolment = user === 'refused' ? undefined : user.enrolments.get(this.ports.service);
    if (enrolment === undefined) return NO_USER;
    return {
      user_id: key.account_id,
      auth_method: 'api_key',
      roles: enrolment.roles,
      scopes: key.scopes,
      client_id: key.client_id,
      ...(key.orders_per_minute === null ? {} : { orders_per_minute: key.orders_per_minute }),
    };
  }

  /** A failure that cannot be counted gets 503, because a verdict would allow uncounted guesses. */
  private async refuseCounted({ peer }: CallCredentials, why: CredentialRefusal): Promise<CallerOutcome> {
    try {
      return refused((await this.ports.throttle.countFailure(peer)) ? why : THROTTLED);
    } catch {
      return refused(UNVERIFIABLE);
    }
  }
}

function sessionCaller(principal: Principal): ApiCaller {
  return {
    user_id: principal.accountId,
    auth_method: 'session',
    roles: principal.roles,
    scopes: SESSION_SCOPES,
    session: principal,
  };
}

function rechecked(verified: Verification): ApiCaller | CredentialRefusal {
  if (verified.ok) return sessionCaller(verified.principal);
  return verified.reason === 'unavailable' ? UNVERIFIABLE : BAD_TOKEN;
}

function refusal(status: CredentialRefusal['status'], error: string): CredentialRefusal {
  return { status, error };
}

function refused(why: CredentialRefusal): CallerOutcome {
  return { ok: false, refusal: why };
}

function admitted(caller: ApiCaller, recheck: () => Rechecked): CallerOutcome {
  return { ok: true, caller, recheck };
}

/** Like `then`, but synchronous if the value is not a promise. */
function after<T, U>(value: MaybePromise<T>, then: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(then) : then(value);
}
