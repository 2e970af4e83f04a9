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
  /** A separate pool of the identity library, so that following changes never waits for other work. */
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
  /** For a service with its own refusal texts and its own count of failures. */
  partsOf(
    service: string,
    ports: Pick<AuthenticatorPorts, 'users' | 'feed'>,
  ): Pick<AuthenticatorPorts, 'keys' | 'throttle' | 'uses'> & { readonly check: KeyCheck };
  start(): Promise<void>;
  /** Stops, and writes the pending uses. */
  stop(): Promise<void>;
}

const CLEANUP_MS = 60_000;

/** Opens everything that one process needs for API keys. */
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
    authenticatorOf: (ports) => new ApiAuthenticator({ ...ports, keys, throttle, seal, uses, clock }),
    partsOf: (name, ports) => ({
      ...{ keys, uses, throttle: new AuthThrottle(pool, keys, name) },
      check: new KeyCheck({ ...ports, keys, seal, clock }),
    }),
    async start() {
      await keys.start();
      // After a failure the next run repeats the work.
      cancel = repeat(clock, CLEANUP_MS, () => throttle.forgetOld().catch(() => undefined));
    },
    async stop() {
      cancel();
      keys.stop();
      await uses.flush().catch(() => undefined);
    },
  };
}
