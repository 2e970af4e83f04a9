import type { Provider } from '@nestjs/common';
import type { Pool } from 'pg';
import type { Authenticator } from '#libs/edge/admission.js';
import type { Principal as EdgePrincipal } from '#libs/edge/endpoint.js';
import { KeySeal } from '#libs/identity/keys/key-seal.js';
import { KeyStore } from '#libs/identity/keys/key-store.js';
import { SigningKeys } from '#libs/identity/keys/signing-keys.js';
import { PasswordCheck } from '#libs/identity/passwords/password-check.js';
import type { Principal, Verification } from '#libs/identity/principal.js';
import { IdentityFeed } from '#libs/identity/revocation/identity-feed.js';
import { IdentityWatch } from '#libs/identity/revocation/identity-watch.js';
import { LoginService } from '#libs/identity/sessions/login-service.js';
import { LoginThrottle } from '#libs/identity/sessions/login-throttle.js';
import { lifetimesOf } from '#libs/identity/sessions/session-lifetimes.js';
import { SessionService } from '#libs/identity/sessions/session-service.js';
import { SessionStore } from '#libs/identity/sessions/session-store.js';
import { TokenReader } from '#libs/identity/tokens/token-reader.js';
import { TokenVerifier } from '#libs/identity/tokens/token-verifier.js';
import { repeat, type Clock } from '#libs/platform/clock.js';
import type { Config } from '#libs/platform/config.js';
import type { ProcessScope } from '#libs/platform/lifecycle.js';
import { openPool } from '#libs/platform/postgres.js';
import type { gatewayConfig } from '../config.js';

export interface IdentityParts {
  readonly config: Config<typeof gatewayConfig>;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly scope: ProcessScope;
}

const UPKEEP_MILLIS = 60_000;
const WATCH_CONNECTIONS = 2;

/** Everything that says who is calling, with the upkeep that it needs. */
export async function openIdentity({
  config,
  pool,
  clock,
  scope,
}: IdentityParts): Promise<{ readonly authenticator: Authenticator; readonly providers: readonly Provider[] }> {
  // The watch's looks must never wait behind other work: what they find out is whether a token still holds.
  const watchPool = openPool(config.DATABASE_URL, {
    applicationName: `${config.INSTANCE}-identity`,
    max: WATCH_CONNECTIONS,
  });
  scope.onStop('identity pool', () => watchPool.end());
  const feed = new IdentityFeed(watchPool);
  const keyStore = new KeyStore(watchPool, new KeySeal(config.SESSION_KEK));
  const watch = new IdentityWatch(feed, keyStore, clock);
  const keys = new SigningKeys(keyStore, watch, clock);
  await keys.ensure();
  await watch.start();
  scope.onStop('identity watch', () => {
    watch.stop();
  });
  const reader = new TokenReader();
  const store = new SessionStore(pool);
  const throttle = new LoginThrottle(pool, clock);
  const sessions = new SessionService(store, reader, watch, lifetimesOf(config), clock);
  const logins = new LoginService(store, throttle, new PasswordCheck(), sessions);
  const stopUpkeep = repeat(clock, UPKEEP_MILLIS, async () => {
    await Promise.allSettled([throttle.forgetOld(), keys.rotateIfDue(), keys.removeSpent()]);
  });
  scope.onStop('identity upkeep', stopUpkeep);
  return {
    authenticator: authenticatorOf(new TokenVerifier(reader, watch, feed, clock)),
    providers: [
      { provide: LoginService, useValue: logins },
      { provide: SessionService, useValue: sessions },
      { provide: SigningKeys, useValue: keys },
    ],
  };
}

function authenticatorOf(verifier: TokenVerifier): Authenticator {
  const known = new WeakMap<Principal, EdgePrincipal>();
  const outcome = (verification: Verification): EdgePrincipal | 'unauthorized' | 'unavailable' => {
    if (!verification.ok) return verification.reason;
    const { principal } = verification;
    const seen = known.get(principal);
    if (seen !== undefined) return seen;
    const { accountId, roles, capabilities } = principal;
    const made: EdgePrincipal = { account_id: accountId, roles, capabilities };
    known.set(principal, made);
    return made;
  };
  return {
    authenticate(token) {
      const verification = verifier.verify(token);
      return verification instanceof Promise ? verification.then(outcome) : outcome(verification);
    },
  };
}
