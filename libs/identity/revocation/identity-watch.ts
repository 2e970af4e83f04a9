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
  /** The polling interval while tokens are presented. */
  readonly pollMillis: number;
  /** The polling interval while none are presented. Cached data is then too old, and the first caller asks the database. */
  readonly idlePollMillis: number;
  /** Data older than this is not used. This bound makes a revocation effective on every process within a second. */
  readonly maxAgeMillis: number;
  readonly maxRevocations: number;
}

export const WATCH_DEFAULTS: WatchSettings = {
  pollMillis: 200,
  idlePollMillis: 2_000,
  maxAgeMillis: 900,
  maxRevocations: 200_000,
};

const NO_VERSIONS: FeedVersions = { accounts: 0, revocations: 0, keys: 0 };

/**
 * Keeps revocations, enrolled accounts and signing keys in memory and follows their changes. Its data is used only after a recent
 * poll. Needs a pool of its own, so that polls never wait for other work.
 */
export class IdentityWatch {
  private readonly accounts = new Map<string, EnrolledUser>();
  private readonly revoked: RevokedIds;
  private ring: KeyRing | undefined;
  private applied = NO_VERSIONS;
  /** The start of the last complete poll. The data is at least as recent. */
  private appliedAt: bigint | undefined;
  private polledAt = 0;
  private cleanUpAt = 0;
  private lastPoll: Promise<void> = Promise.resolve();
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
    // After failed polls the data becomes too old, which `isFresh` reports.
    this.polls = new PacedPoll(clock, { busyMillis, idleMillis }, () =>
      this.refresh().catch(() => undefined),
    );
  }

  /** Polls once, which must succeed, and then regularly. */
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
    if (this.appliedAt === undefined) return false;
    return this.clock.monotonicNanos() - this.appliedAt <= this.maxAgeNanos;
  }

  /** Undefined if the cached data cannot tell, and the database must be asked. */
  stateOf({ sub, sid, jti }: Claims): TokenState | undefined {
    this.polls.wanted();
    if (!this.isFresh()) return undefined;
    const tokenRevoked = this.revoked.has(jti);
    const sessionRevoked = this.revoked.has(sid);
    if (tokenRevoked === undefined || sessionRevoked === undefined) return undefined;
    if (tokenRevoked || sessionRevoked) return 'refused';
    return this.accounts.get(sub) ?? 'refused';
  }

  /** Like `stateOf`, for a user without a token. */
  userOf(accountId: string): TokenState | undefined {
    this.polls.wanted();
    return this.isFresh() ? (this.accounts.get(accountId) ?? 'refused') : undefined;
  }

  /** Adds a revocation made by this gateway, without waiting for the next poll. */
  noteRevoked(revoked: Revoked): void {
    this.revoked.add([revoked]);
  }

  /** Polls now. Polls run one after another, so that an older result never overwrites a newer one. */
  refresh(): Promise<void> {
    const poll = this.lastPoll.then(() => this.poll());
    this.lastPoll = poll.catch(() => undefined);
    return poll;
  }

  private async poll(): Promise<void> {
    const began = this.clock.monotonicNanos();
    const now = epochSeconds(this.clock);
    // While the clock was ahead, valid revocations may have been skipped or removed, so all are read again.
    if (now < this.polledAt) this.applied = { ...this.applied, revocations: 0 };
    this.polledAt = now;
    const current = await this.feed.versions();
    if (current.keys !== this.applied.keys) this.ring = await this.keyStore.load(this.ring);
    if (current.accounts !== this.applied.accounts) await this.followAccounts(current.accounts);
    if (current.revocations !== this.applied.revocations)
      await this.followRevocations(current.revocations, now);
    this.applied = current;
    this.appliedAt = began;
    if (now >= this.cleanUpAt || now < this.cleanUpAt - MINUTE_S) await this.cleanUp(now);
  }

  private async followAccounts(current: number): Promise<void> {
    const changes = await this.feed.accountsChangedSince(versionToReadFrom(this.applied.accounts, current));
    for (const { accountId, account } of changes) {
      if (account === undefined) this.accounts.delete(accountId);
      else this.accounts.set(accountId, account);
    }
  }

  private async followRevocations(current: number, now: number): Promise<void> {
    if (this.revoked.overflowed) return;
    const from = versionToReadFrom(this.applied.revocations, current);
    this.revoked.add(await this.feed.revokedSince(from, now, this.revoked.capacity + 1));
  }

  /** Removes expired entries once a minute. After an overflow, reads all revocations again in case they fit now. */
  private async cleanUp(now: number): Promise<void> {
    this.cleanUpAt = now + MINUTE_S;
    this.revoked.prune(now);
    if (!this.revoked.overflowed) return;
    this.revoked.recover(await this.feed.revokedSince(0, now, this.revoked.capacity + 1));
  }
}

/** A smaller current number means that the database was restored from a backup, so everything must be read again. */
function versionToReadFrom(applied: number, current: number): number {
  return current < applied ? 0 : applied;
}
