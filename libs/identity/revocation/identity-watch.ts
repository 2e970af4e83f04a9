import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { PacedPoll } from '#libs/platform/time/paced-poll.js';
import { epochSeconds, MINUTE_S } from '../epoch.js';
import type { KeyRing } from '../keys/key-ring.js';
import type { KeyStore } from '../keys/key-store.js';
import type { EnrolledUser } from '../principal.js';
import type { Claims } from '../tokens/claims.js';
import type { FeedVersions, IdentityFeed, TokenState } from './identity-feed.js';
import { RevokedIds, type Revoked } from './revoked-ids.js';

export interface WatchSettings {
  /** The interval between polls while tokens are presented. */
  readonly pollMillis: number;
  /** The interval while none are: then memory is too old to decide, and the first caller asks the database. */
  readonly idlePollMillis: number;
  /** Data that is older than this decides nothing. This bound makes a revocation effective everywhere within a second. */
  readonly maxAgeMillis: number;
  readonly maxRevocations: number;
}

export const WATCH_DEFAULTS: WatchSettings = {
  pollMillis: 200,
  idlePollMillis: 2_000,
  maxAgeMillis: 900,
  maxRevocations: 200_000,
};

const NOTHING_SEEN: FeedVersions = { accounts: 0, revocations: 0, keys: 0 };

/**
 * Keeps revocations, enrolled accounts and signing keys in memory and follows their changes. It answers only after a recent poll;
 * give it its own pool, so that its polls never wait for other work.
 */
export class IdentityWatch {
  private readonly accounts = new Map<string, EnrolledUser>();
  private readonly revoked: RevokedIds;
  private ring: KeyRing | undefined;
  private seen = NOTHING_SEEN;
  /** The start of the last complete poll: its data cannot be older than that. */
  private seenAt: bigint | undefined;
  private polledAt = 0;
  private tidyAt = 0;
  private turn: Promise<void> = Promise.resolve();
  private readonly polls: PacedPoll;
  private readonly maxAgeNanos: bigint;

  constructor(
    private readonly feed: IdentityFeed,
    private readonly keyStore: KeyStore,
    private readonly clock: Clock,
    settings: WatchSettings = WATCH_DEFAULTS,
  ) {
    this.revoked = new RevokedIds(settings.maxRevocations);
    this.maxAgeNanos = BigInt(settings.maxAgeMillis) * NANOS_PER_MILLI;
    const { pollMillis: busyMillis, idlePollMillis: idleMillis } = settings;
    // A failed poll shows in the age of the data.
    this.polls = new PacedPoll(clock, { busyMillis, idleMillis }, () =>
      this.refresh().catch(() => undefined),
    );
  }

  /** Polls once, which must succeed, and goes on polling. */
  async start(): Promise<void> {
    await this.refresh();
    this.polls.start();
  }

  stop(): void {
    this.polls.stop();
  }

  keys(): KeyRing | undefined {
    return this.ring;
  }

  isFresh(): boolean {
    if (this.seenAt === undefined) return false;
    return this.clock.monotonicNanos() - this.seenAt <= this.maxAgeNanos;
  }

  /** Undefined if memory cannot tell; then ask the database. */
  stateOf({ sub, sid, jti }: Claims): TokenState | undefined {
    this.polls.wanted();
    if (!this.isFresh()) return undefined;
    const tokenRevoked = this.revoked.has(jti);
    const sessionRevoked = this.revoked.has(sid);
    if (tokenRevoked === undefined || sessionRevoked === undefined) return undefined;
    if (tokenRevoked || sessionRevoked) return 'refused';
    return this.accounts.get(sub) ?? 'refused';
  }

  /** The same for a user without a token. */
  userOf(accountId: string): TokenState | undefined {
    this.polls.wanted();
    return this.isFresh() ? (this.accounts.get(accountId) ?? 'refused') : undefined;
  }

  /** Adds this gateway's own revocation, without waiting for the next poll. */
  noteRevoked(revoked: Revoked): void {
    this.revoked.add([revoked]);
  }

  /** Polls now. Polls run one after another, so that an older one never overwrites what a newer one read. */
  refresh(): Promise<void> {
    const poll = this.turn.then(() => this.poll());
    this.turn = poll.catch(() => undefined);
    return poll;
  }

  private async poll(): Promise<void> {
    const began = this.clock.monotonicNanos();
    const now = epochSeconds(this.clock);
    // While the clock was ahead, valid revocations may have been skipped or forgotten.
    if (now < this.polledAt) this.seen = { ...this.seen, revocations: 0 };
    this.polledAt = now;
    const current = await this.feed.versions();
    if (current.keys !== this.seen.keys) this.ring = await this.keyStore.load(this.ring);
    if (current.accounts !== this.seen.accounts) await this.followAccounts(current.accounts);
    if (current.revocations !== this.seen.revocations) await this.followRevocations(current.revocations, now);
    this.seen = current;
    this.seenAt = began;
    if (now >= this.tidyAt || now < this.tidyAt - MINUTE_S) await this.tidy(now);
  }

  private async followAccounts(current: number): Promise<void> {
    const changes = await this.feed.accountsChangedSince(followedFrom(this.seen.accounts, current));
    for (const { accountId, account } of changes) {
      if (account === undefined) this.accounts.delete(accountId);
      else this.accounts.set(accountId, account);
    }
  }

  private async followRevocations(current: number, now: number): Promise<void> {
    if (this.revoked.overflowed) return;
    const from = followedFrom(this.seen.revocations, current);
    this.revoked.add(await this.feed.revokedSince(from, now, this.revoked.capacity + 1));
  }

  /** Now and then: forgets expired entries. After an overflow, reads again whether all fit now. */
  private async tidy(now: number): Promise<void> {
    this.tidyAt = now + MINUTE_S;
    this.revoked.prune(now);
    if (!this.revoked.overflowed) return;
    this.revoked.recover(await this.feed.revokedSince(0, now, this.revoked.capacity + 1));
  }
}

/** A smaller number means that the database was restored from a backup: all cached data is invalid. */
function followedFrom(seen: number, current: number): number {
  return current < seen ? 0 : seen;
}
