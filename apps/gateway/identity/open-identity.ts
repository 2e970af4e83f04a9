import type { Provider } from '@nestjs/common';
import type { Pool } from 'pg';
import type { Authenticator, AuthOutcome } from '#libs/edge/checks/check.js';
import type { ApiAuthenticator } from '#libs/identity/api-keys/authenticate.js';
import { openApiKeys, type ApiKeys } from '#libs/identity/api-keys/open-api-keys.js';
import { openIdentity } from '#libs/identity/identity.js';
import { SigningKeys } from '#libs/identity/keys/signing-keys.js';
import type { Caller } from '#libs/edge/endpoint.js';
import type { Principal, ServiceCatalogue, Verification } from '#libs/identity/principal.js';
import { TokenRefusals } from '#libs/identity/tokens/token-refusals.js';
import type { TokenVerifier } from '#libs/identity/tokens/token-verifier.js';
import { QUICK_MS } from '#libs/identity/quick-query.js';
import { LoginService } from '#libs/identity/sessions/login-service.js';
import { lifetimesOf } from '#libs/identity/sessions/session-lifetimes.js';
import { SessionService } from '#libs/identity/sessions/session-service.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { Config } from '#libs/platform/settings/config.js';
import type { ProcessScope } from '#libs/platform/process/lifecycle.js';
import { openPool } from '#libs/platform/database/postgres.js';
import type { ClientSession, SessionOutcome, Sessions } from '#libs/socket/session-guard.js';
import type { gatewayConfig } from '../config.js';

/** Whether a token or a key is still good is not asked after anything else. */
const WATCH_SESSIONS = 3;
/** A process of this service alone has a login that may only read. */
const READS_ALONE = 'data';

export interface IdentityParts {
  readonly config: Config<typeof gatewayConfig>;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly scope: ProcessScope;
  readonly catalogues: readonly ServiceCatalogue[];
}

/** Who is calling one service. */
export interface ServiceIdentity {
  readonly sessions: Sessions<Caller>;
  readonly authenticator: Authenticator;
}

/** Callers that come with keys or sessions, for a service that takes both. */
export interface KeyedIdentity {
  readonly keys: ApiKeys;
  readonly authenticator: ApiAuthenticator;
  /** Checks passwords again. */
  readonly logins: LoginService;
}

export type ReasonedIdentity = ReturnType<ApiKeys['partsOf']> & {
  readonly verifier: TokenVerifier;
  readonly refusals: TokenRefusals;
};

export interface GatewayIdentity {
  of(service: string): ServiceIdentity;
  /** `secret`: under which keys are recognised. For one service of the process. */
  withKeys(service: string, secret: string): Promise<KeyedIdentity>;
  /** The same for a service that words its own refusals, and counts its own failures. */
  reasoned(service: string, secret: string): Promise<ReasonedIdentity>;
  /** Of the endpoints of sessions. */
  readonly providers: readonly Provider[];
}

/** Everything that says who is calling, for the edge and for the login endpoints. */
export async function openGatewayIdentity({
  config,
  pool,
  clock,
  scope,
  catalogues,
}: IdentityParts): Promise<GatewayIdentity> {
  const watchPool = openPool(config.DATABASE_URL, {
    applicationName: `${config.INSTANCE}-identity`,
    max: WATCH_SESSIONS,
    answerTimeoutMs: QUICK_MS,
  });
  scope.onStop('identity pool', () => watchPool.end());
  const identity = openIdentity(
    { pool, watchPool, clock },
    {
      catalogues,
      keyEncryptionKeys: config.SESSION_KEK,
      lifetimes: lifetimesOf(config),
      verifiesOnly: config.SERVES.every((service) => service === READS_ALONE),
    },
  );
  await identity.start();
  scope.onStop('identity', () => {
    identity.stop();
  });
  return {
    of: (service) => serviceIdentity(identity.verifierOf(service)),
    async withKeys(service, secret) {
      const keys = openApiKeys({ pool, watchPool, clock }, { secret });
      await keys.start();
      scope.onStop('API keys', () => keys.stop());
      const { watch: users, feed, logins } = identity;
      const verifier = identity.verifierOf(service);
      return { keys, logins, authenticator: keys.authenticatorOf({ users, feed, verifier, service }) };
    },
    async reasoned(service, secret) {
      const keys = openApiKeys({ pool, watchPool, clock }, { secret });
      await keys.start();
      scope.onStop(`API keys of ${service}`, () => keys.stop());
      const { watch: users, feed } = identity;
      const refusals = new TokenRefusals(users, feed, clock);
      return { ...keys.partsOf(service, { users, feed }), verifier: identity.verifierOf(service), refusals };
    },
    providers: [
      { provide: LoginService, useValue: identity.logins },
      { provide: SessionService, useValue: identity.sessions },
      { provide: SigningKeys, useValue: identity.keys },
    ],
  };
}

function serviceIdentity(verifier: TokenVerifier): ServiceIdentity {
  const sessionOf = sessionForms();
  const callerOf = (verification: Verification): AuthOutcome => {
    const session = sessionOf(verification);
    return typeof session === 'string' ? session : session.principal;
  };
  return {
    sessions: {
      checkOf(token) {
        const verify = verifier.follow(token);
        return () => as(sessionOf, verify());
      },
    },
    authenticator: { authenticate: (token) => as(callerOf, verifier.verify(token)) },
  };
}

/** The verifier gives the same principal until something about it changes, so the edge's form of it is made once. */
function sessionForms(): (verification: Verification) => Exclude<SessionOutcome<Caller>, 'forbidden'> {
  const known = new WeakMap<Principal, ClientSession<Caller>>();
  return (verification) => {
    if (!verification.ok) return verification.reason;
    const { principal } = verification;
    const seen = known.get(principal);
    if (seen !== undefined) return seen;
    const { accountId, roles, capabilities, expiresAt } = principal;
    const made: ClientSession<Caller> = {
      principal: { account_id: accountId, roles, capabilities },
      expiresAt,
    };
    known.set(principal, made);
    return made;
  };
}

/** At once where the verification is known at once. */
function as<T>(
  form: (verification: Verification) => T,
  verification: Verification | Promise<Verification>,
): T | Promise<T> {
  return verification instanceof Promise ? verification.then(form) : form(verification);
}
