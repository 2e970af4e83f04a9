import type { Pool } from 'pg';
import { repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import { epochSeconds } from './epoch.js';
import { KeySeal } from './keys/key-seal.js';
import { KeyStore } from './keys/key-store.js';
import { SigningKeys } from './keys/signing-keys.js';
import type { ServiceCatalogue } from './principal.js';
import { LoginQueue } from './passwords/login-queue.js';
import { PasswordCheck } from './passwords/password-check.js';
import type { PasswordCost } from './passwords/password-cost.js';
import { IdentityFeed } from './revocation/identity-feed.js';
import { IdentityWatch, WATCH_DEFAULTS, type WatchSettings } from './revocation/identity-watch.js';
import { LoginService } from './sessions/login-service.js';
import { LoginThrottle } from './sessions/login-throttle.js';
import type { SessionLifetimes } from './sessions/session-lifetimes.js';
import { SessionService } from './sessions/session-service.js';
import { SessionStore } from './sessions/session-store.js';
import { TokenReader } from './tokens/token-reader.js';
import { TokenVerifier } from './tokens/token-verifier.js';

export interface IdentityPorts {
  readonly pool: Pool;
  /** A separate pool, so that following revocations never waits for other work. Two connections suffice. */
  readonly watchPool: Pool;
  readonly clock: Clock;
}

export interface IdentitySettings {
  /** The services of this process. */
  readonly catalogues: readonly ServiceCatalogue[];
  /** Each has 256 bits in hexadecimal. The first one encrypts, all of them decrypt. */
  readonly keyEncryptionKeys: readonly [string, ...string[]];
  readonly lifetimes: SessionLifetimes;
  /** The cost of stored password hashes. The production cost by default. */
  readonly passwordCost?: PasswordCost;
  readonly watch?: WatchSettings;
  /** For a process whose database role may only read. It creates, rotates and removes no keys, and opens no sessions. */
  readonly verifiesOnly?: boolean;
}

export interface Identity {
  /** Tokens are valid for all services. Their principal depends on the enrolment in the service. */
  verifierOf(service: string): TokenVerifier;
  readonly logins: LoginService;
  readonly sessions: SessionService;
  readonly keys: SigningKeys;
  readonly watch: IdentityWatch;
  readonly feed: IdentityFeed;
  /** Creates the first signing key if there is none, unless `verifiesOnly`. Reads the revocations, and then follows them. */
  start(): Promise<void>;
  stop(): void;
  /** Removes expired data, and rotates keys when due. Runs every minute after start(). */
  tidy(): Promise<void>;
}

const CLEANUP_MS = 60_000;

/** Opens everything of this library that one gateway needs. */
export function openIdentity(
  { pool, watchPool, clock }: IdentityPorts,
  settings: IdentitySettings,
): Identity {
  const feed = new IdentityFeed(watchPool, settings.catalogues);
  const keyStore = new KeyStore(watchPool, new KeySeal(...settings.keyEncryptionKeys));
  const watch = new IdentityWatch(feed, keyStore, clock, settings.watch ?? WATCH_DEFAULTS);
  const keys = new SigningKeys(keyStore, watch, clock);
  const reader = new TokenReader();
  const store = new SessionStore(pool);
  const throttle = new LoginThrottle(pool, clock);
  const sessions = new SessionService(store, reader, watch, settings.lifetimes, clock);
  const queue = new LoginQueue(clock);
  const logins = new LoginService(store, throttle, new PasswordCheck(settings.passwordCost), sessions, queue);
  const tidy = async (): Promise<void> => {
    await throttle.forgetOld();
    await store.forgetEnded(epochSeconds(clock));
    await keys.removeSpent();
    await keys.rotateIfDue();
  };
  let cancel: Cancel = () => undefined;
  return {
    verifierOf: (service) => new TokenVerifier(reader, watch, feed, clock, service),
    logins,
    sessions,
    keys,
    watch,
    feed,
    tidy,
    async start() {
      if (settings.verifiesOnly !== true) await keys.ensure();
      await watch.start();
      if (settings.verifiesOnly === true) return;
      // After a failure the next run repeats the work.
      cancel = repeat(clock, CLEANUP_MS, () => tidy().catch(() => undefined));
    },
    stop() {
      cancel();
      watch.stop();
    },
  };
}
