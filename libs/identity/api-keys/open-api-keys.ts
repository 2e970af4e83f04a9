import type { Pool } from 'pg';
import { repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import type { WatchSettings } from '../revocation/identity-watch.js';
import { ApiKeyFeed } from './api-key-feed.js';
import { ApiKeyService } from './api-key-service.js';
import { ApiKeyWatch } from './api-key-watch.js';
import { ApiAuthenticator, type AuthenticatorPorts } from './authenticate.js';
import { AuthThrottle } from './auth-throttle.js';
import { KeyCheck } from './key-check.js';
import { TripleSeal } from './key-triple.js';
import { KeyUses } from './key-uses.js';
import { ProviderAccessBook } from './provider-access.js';

export interface ApiKeysPorts {
  readonly pool: Pool;
  /** The identity's own pool: following changes never waits for other work. */
  readonly watchPool: Pool;
  readonly clock: Clock;
}

export interface ApiKeysSettings {
  /** 256 bits in hexadecimal. */
  readonly secret: string;
  readonly watch?: WatchSettings;
}

export interface ApiKeys {
  readonly service: ApiKeyService;
  readonly access: ProviderAccessBook;
  readonly throttle: AuthThrottle;
  authenticatorOf(
    ports: Pick<AuthenticatorPorts, 'users' | 'feed' | 'verifier' | 'service'>,
  ): ApiAuthenticator;
  /** For a service that words its own refusals, and counts its own failures. */
  partsOf(
    service: string,
    ports: Pick<AuthenticatorPorts, 'users' | 'feed'>,
  ): Pick<AuthenticatorPorts, 'keys' | 'throttle' | 'uses'> & { readonly check: KeyCheck };
  start(): Promise<void>;
  /** Writes the pending uses. */
  stop(): Promise<void>;
}

const TIDY_MS = 60_000;

/** Everything about API keys that one process needs. */
export function openApiKeys({ pool, watchPool, clock }: ApiKeysPorts, settings: ApiKeysSettings): ApiKeys {
  const keys = new ApiKeyWatch(new ApiKeyFeed(watchPool), clock, settings.watch);
  const seal = new TripleSeal(settings.secret);
  const uses = new KeyUses(pool, clock);
  const throttle = new AuthThrottle(pool, keys);
  let cancel: Cancel = () => undefined;
  return {
    service: new ApiKeyService(pool, seal, keys),
    access: new ProviderAccessBook(pool, keys),
    throttle,
    authenticatorOf: (given) => new ApiAuthenticator({ ...given, keys, throttle, seal, uses, clock }),
    partsOf: (name, given) => ({
      ...{ keys, uses, throttle: new AuthThrottle(pool, keys, name) },
      check: new KeyCheck({ ...given, keys, seal, clock }),
    }),
    async start() {
      await keys.start();
      // Failed work is repeated next time.
      cancel = repeat(clock, TIDY_MS, () => throttle.forgetOld().catch(() => undefined));
    },
    async stop() {
      cancel();
      keys.stop();
      await uses.flush().catch(() => undefined);
    },
  };
}
