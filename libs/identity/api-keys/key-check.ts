import type { Clock } from '#libs/platform/time/clock.js';
import { epochMillis } from '../epoch.js';
import { within } from '../quick-query.js';
import type { IdentityFeed, TokenState } from '../revocation/identity-feed.js';
import type { IdentityWatch } from '../revocation/identity-watch.js';
import type { KnownKey } from './api-key-rows.js';
import type { ApiKeyWatch } from './api-key-watch.js';
import { isSameDigest, isWellFormed, type KeyTriple, type TripleSeal } from './key-triple.js';
import { isListed } from './source-address.js';

/** A valid key and the state of its user, or why it is refused. `unverifiable`: the database does not answer. */
export type KeyVerdict =
  { readonly key: KnownKey; readonly user: TokenState } | 'wrong' | 'elsewhere' | 'unverifiable';

export interface KeyCheckPorts {
  readonly keys: ApiKeyWatch;
  readonly seal: TripleSeal;
  readonly users: IdentityWatch;
  readonly feed: IdentityFeed;
  readonly clock: Clock;
}

type MaybePromise<T> = T | Promise<T>;

/** Compared with the credentials if the id is unknown, so that the work is the same. */
const NO_DIGEST = Buffer.alloc(32);
const LOOKUP_MS = 1_000;

/** Checks a triple and finds its user. Synchronous, except for data that is not in memory. */
export class KeyCheck {
  constructor(private readonly ports: KeyCheckPorts) {}

  /** Undefined for a triple of an impossible form. */
  digestOf(triple: KeyTriple): Buffer | undefined {
    return isWellFormed(triple) ? this.ports.seal.digestOf(triple) : undefined;
  }

  judge(client_id: string, digest: Buffer, address: string): MaybePromise<KeyVerdict> {
    const { keys } = this.ports;
    if (!keys.isFresh()) {
      return keys
        .makeFresh()
        .then((isFresh) => (isFresh ? this.judge(client_id, digest, address) : 'unverifiable'));
    }
    const known = keys.keyOf(client_id);
    if (known !== undefined) return this.judgeLoaded(known, digest, address);
    return keys.load(client_id).then(
      (key) => this.judgeLoaded(key, digest, address),
      () => 'unverifiable',
    );
  }

  private judgeLoaded(key: KnownKey | 'absent', digest: Buffer, address: string): MaybePromise<KeyVerdict> {
    if (!this.isValid(key, digest) || key === 'absent') return 'wrong';
    if (!isListed(key.ip_allow_list, address)) return 'elsewhere';
    const { users, feed, clock } = this.ports;
    const user = users.userOf(key.account_id);
    if (user !== undefined) return { key, user };
    return within(clock, LOOKUP_MS, feed.userOf(key.account_id)).then(
      (loaded) => ({ key, user: loaded }),
      () => 'unverifiable',
    );
  }

  /** Always compares both digests, also for an unknown id, so that the time reveals nothing. */
  private isValid(known: KnownKey | 'absent', digest: Buffer): boolean {
    const key = known === 'absent' ? undefined : known;
    const now = epochMillis(this.ports.clock);
    const isPresent = isSameDigest(key?.digest ?? NO_DIGEST, digest);
    const wasPresent = isSameDigest(key?.previous_digest ?? NO_DIGEST, digest);
    if (key === undefined || key.is_revoked) return false;
    if (key.expires_at !== null && key.expires_at <= now) return false;
    return isPresent || (wasPresent && key.previous_valid_until !== null && key.previous_valid_until > now);
  }
}
