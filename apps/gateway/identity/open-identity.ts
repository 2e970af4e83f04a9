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

/** A separate pool, so that other queries cannot delay checks of tokens and keys. */
const WATCH_SESSIONS = 3;
/** A process of this service alone has a database login that may only read. */
const READS_ALONE = 'data';

export interface IdentityParts {
  readonly config: Config<typeof gatewayConfig>;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly scope: ProcessScope;
  readonly catalogues: readonly ServiceCatalogue[];
}

/** Authentication for one service. */
export interface ServiceIdentity {
  readonly sessions: Sessions<Caller>;
  readonly authenticator: Authenticator;
}

/** Authentication for a service that accepts both API keys and sessions. */
export interface KeyedIdentity {
  readonly keys: ApiKeys;
  readonly authenticator: ApiAuthenticator;
  /** Checks the password of a logged-in user again. */
  readonly logins: LoginService;
}

export type ReasonedIdentity = ReturnType<ApiKeys['partsOf']> & {
  readonly verifier: TokenVerifier;
  readonly refusals: TokenRefusals;
};

export interface GatewayIdentity {
  of(service: string): ServiceIdentity;
  /** `secret` hashes the API keys. For one service of the process only. */
  withKeys(service: string, secret: string): Promise<KeyedIdentity>;
  /** Like `withKeys`, for a service with its own refusal texts and its own counts of failures. */
  reasoned(service: string, secret: string): Promise<ReasonedIdentity>;
  /** The providers of the session endpoints. */
  readonly providers: readonly Provider[];
}

/** Opens authentication for the edge and for the login endpoints. */
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
        return () => mapVerification(sessionOf, verify());
      },
    },
    authenticator: { authenticate: (token) => mapVerification(callerOf, verifier.verify(token)) },
  };
}

/** The verifier returns the same principal until it changes, so each is converted once. */
function sessionForms(): (verification: Verification) => Exclude<SessionOutcome<Caller>, 'forbidden'> {
  const cache = new WeakMap<Principal, ClientSession<Caller>>();
  return (verification) => {
    if (!verification.ok) return verification.reason;
    const { principal } = verification;
    const cached = cache.get(principal);
    if (cached !== undefined) return cached;
    const { accountId, roles, capabilities, expiresAt } = principal;
    const made: ClientSession<Caller> = {
      principal: { account_id: accountId, roles, capabilities },
      expiresAt,
    };
    cache.set(principal, made);
    return made;
  };
}

/** Converts at once if the verification is known at once. */
function mapVerification<T>(
  convert: (verification: Verification) => T,
  verification: Verification | Promise<Verification>,
): T | Promise<T> {
  return verification instanceof Promise ? verification.then(convert) : convert(verification);
}
