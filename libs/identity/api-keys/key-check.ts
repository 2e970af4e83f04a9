import type { Clock } from '#libs/platform/time/clock.js';
import { epochMillis } from '../epoch.js';
import { within } from '../quick-query.js';
import type { IdentityFeed, TokenState } from '../revocation/identity-feed.js';
import type { IdentityWatch } from '../revocation/identity-watch.js';
import type { KnownKey } from './api-key-rows.js';
import type { ApiKeyWatch } from './api-key-watch.js';
import { isSameDigest, isWellFormed, type KeyTriple, type TripleSeal } from './key-triple.js';
import { isListed } from './source-address.js';

/** A right key and the state of its user, or why it is refused. `unverifiable`: the database does not answer. */
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

/** Compared with the credentials for an unknown id, so that it takes the same work. */
const NOBODYS = Buffer.alloc(32);
const ASK_MS = 1_000;

/** Says whether a triple is right, and whose. Replies at once, except for a key that is not in memory. */
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
    if (known !== undefined) return this.judgeKnown(known, digest, address);
    return keys.load(client_id).then(
      (key) => this.judgeKnown(key, digest, address),
      () => 'unverifiable',
    );
  }

  private judgeKnown(key: KnownKey | 'absent', digest: Buffer, address: string): MaybePromise<KeyVerdict> {
    if (!this.isRight(key, digest) || key === 'absent') return 'wrong';
    if (!isListed(key.ip_allow_list, address)) return 'elsewhere';
    const { users, feed, clock } = this.ports;
    const user = users.userOf(key.account_id);
    if (user !== undefined) return { key, user };
    return within(clock, ASK_MS, feed.userOf(key.account_id)).then(
      (asked) => ({ key, user: asked }),
      () => 'unverifiable',
    );
  }

  /** Compares both digests, whatever the first comparison gives, and for an unknown id as well. */
  private isRight(known: KnownKey | 'absent', digest: Buffer): boolean {
    const key = known === 'absent' ? undefined : known;
    const now = epochMillis(this.ports.clock);
    const isPresent = isSameDigest(key?.digest ?? NOBODYS, digest);
    const wasPresent = isSameDigest(key?.previous_digest ?? NOBODYS, digest);
    if (key === undefined || key.is_revoked) return false;
    if (key.expires_at !== null && key.expires_at <= now) return false;
    return isPresent || (wasPresent && key.previous_valid_until !== null && key.previous_valid_until > now);
  }
}
