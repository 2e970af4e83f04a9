import type { Clock } from '#libs/platform/time/clock.js';
import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';
import { DAY_S, epochSeconds, HOUR_S, MINUTE_S } from '../epoch.js';
import type { IdentityWatch } from '../revocation/identity-watch.js';
import { MAX_TOKEN_S } from '../tokens/claims.js';
import { MAX_REFRESH_S } from '../sessions/session-lifetimes.js';
import type { KeyState } from './key-ring.js';
import type { KeyChanges, KeyStore } from './key-store.js';
import { generatePrivateKey, signingKeyOf, type PublicJwk } from './signing-key.js';

/** How long a new key is published before it signs. Longer than clients may cache the JWKS document. */
const ANNOUNCE_S = 10 * MINUTE_S;
const SIGNING_DAYS = 30;
/** After this the last token of a replaced key cannot be refreshed. The hour allows for clock differences. */
const RETENTION_S = MAX_TOKEN_S + MAX_REFRESH_S + HOUR_S;

/** The keys of tokens: one signs, another may be announced, and older ones only verify. */
export class SigningKeys {
  constructor(
    private readonly store: KeyStore,
    private readonly watch: IdentityWatch,
    private readonly clock: Clock,
  ) {}

  /** Creates the first key of a new cluster. Every gateway calls it at its start, and only the first creates one. */
  async ensure(): Promise<void> {
    await this.store.change(async (changes) => {
      if (changes.ring.signer(epochSeconds(this.clock)) !== undefined) return;
      if (changes.rowCount > 0) {
        throw new StartFault('SESSION_KEK is not the key that sealed the signing keys', EXIT.config);
      }
      await this.addKey(changes, epochSeconds(this.clock));
    });
  }

  /** The JWKS document for other verifiers of tokens. Undefined until the keys have been read. */
  jwks(): { readonly keys: readonly PublicJwk[] } | undefined {
    return this.watch.keys()?.jwks();
  }

  states(): ReadonlyMap<string, KeyState> | undefined {
    return this.watch.keys()?.states(epochSeconds(this.clock));
  }

  /** Announces the next key, unless one is announced already. Returns its id. */
  async rotate(announceSeconds: number = ANNOUNCE_S): Promise<string> {
    const kid = await this.store.change(async (changes) => {
      const now = epochSeconds(this.clock);
      const next = changes.ring.next(now);
      if (next !== undefined) return next.kid;
      // No two keys become active in the same second, so it is always clear which one signs.
      const earliest = (changes.ring.signer(now)?.activeFrom ?? 0) + 1;
      return this.addKey(changes, Math.max(now + announceSeconds, earliest));
    });
    await this.watch.refresh();
    return kid;
  }

  async rotateIfDue(): Promise<void> {
    const now = epochSeconds(this.clock);
    const signer = this.watch.keys()?.signer(now);
    if (signer !== undefined && now >= signer.activeFrom + SIGNING_DAYS * DAY_S) await this.rotate();
  }

  /** For a key that may have leaked. Its tokens become invalid at once, and their users must log in again. */
  async withdraw(kid: string): Promise<void> {
    await this.store.change(async (changes) => {
      const now = epochSeconds(this.clock);
      await changes.remove(kid);
      if (changes.ring.signer(now)?.kid === kid) await this.addKey(changes, now);
    });
    await this.watch.refresh();
  }

  removeSpent(): Promise<void> {
    return this.store.removeSucceededBefore(epochSeconds(this.clock) - RETENTION_S);
  }

  private async addKey(changes: KeyChanges, activeFrom: number): Promise<string> {
    const createdAt = epochSeconds(this.clock);
    const key = signingKeyOf(await generatePrivateKey(), { createdAt, activeFrom });
    await changes.add(key);
    return key.kid;
  }
}
