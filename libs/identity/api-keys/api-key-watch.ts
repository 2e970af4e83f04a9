import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { PacedPoll } from '#libs/platform/time/paced-poll.js';
import { within } from '../quick-query.js';
import { WATCH_DEFAULTS, type WatchSettings } from '../revocation/identity-watch.js';
import { BoundedCache } from '../tokens/bounded-cache.js';
import type { ApiKeyFeed } from './api-key-feed.js';
import type { KnownKey } from './api-key-rows.js';

export type AccessState = 'enabled' | 'disabled' | 'unknown';

/** Entries in each cache. Known and unknown ids have separate caches, so that a flood of unknown ids displaces no keys. */
const MAX_KEYS = 20_000;
/** After more changes than this at once, the cache is cleared. */
const MAX_CHANGES = 2_000;
const MAX_BLOCKED = 100_000;
/** A block may be committed a little later than its time says. */
const OVERLAP_S = 3;
/** How long a caller waits for the database. */
const LOOKUP_MS = 1_000;

/**
 * Keeps used keys, the access to providers and blocked addresses in memory and follows their changes. Data that is too old is not
 * used.
 */
export class ApiKeyWatch {
  private readonly known = new BoundedCache<KnownKey>(MAX_KEYS);
  private readonly unknown = new BoundedCache<true>(MAX_KEYS);
  /** By address, the end of the block on the monotonic clock. */
  private readonly blocked = new Map<string, bigint>();
  private access: ReadonlyMap<string, boolean | null> = new Map();
  private applied = { keys: 0, access: 0, at: 0 };
  private appliedAt: bigint | undefined;
  /** Rises with each applied change. A query that was sent before may have an older result. */
  private changes = 0;
  private lastPoll: Promise<void> = Promise.resolve();
  /** The poll that all waiting callers share. */
  private sharedRefresh: Promise<void> | undefined;
  private readonly polls: PacedPoll;
  private readonly maxAgeNanos: bigint;

  constructor(
    private readonly feed: ApiKeyFeed,
    private readonly clock: Clock,
    settings: WatchSettings = WATCH_DEFAULTS,
  ) {
    this.maxAgeNanos = BigInt(settings.maxAgeMillis) * NANOS_PER_MILLI;
    const { pollMillis: busyMillis, idlePollMillis: idleMillis } = settings;
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

  isFresh(): boolean {
    this.polls.wanted();
    if (this.appliedAt === undefined) return false;
    return this.clock.monotonicNanos() - this.appliedAt <= this.maxAgeNanos;
  }

  /** After an idle time the first caller waits for a poll. False if the database cannot be reached. */
  async makeFresh(): Promise<boolean> {
    if (this.isFresh()) return true;
    this.sharedRefresh ??= this.refresh().finally(() => {
      this.sharedRefresh = undefined;
    });
    await within(this.clock, LOOKUP_MS, this.sharedRefresh).catch(() => undefined);
    return this.isFresh();
  }

  /** `absent` for an id that was looked up and does not exist. Undefined for one that must be looked up. */
  keyOf(client_id: string): KnownKey | 'absent' | undefined {
    const known = this.known.get(client_id);
    if (known !== undefined) return known;
    return this.unknown.get(client_id) === true ? 'absent' : undefined;
  }

  /** Reads a key from the database, and again if changes were applied meanwhile. */
  async load(client_id: string): Promise<KnownKey | 'absent'> {
    for (;;) {
      const before = this.changes;
      const key = await within(this.clock, LOOKUP_MS, this.feed.keyOf(client_id));
      if (before !== this.changes) continue;
      if (key === undefined) this.unknown.set(client_id, true);
      else this.store(key);
      return key ?? 'absent';
    }
  }

  /** Whether calls with API keys may reach a provider. */
  accessOf(provider: string): AccessState {
    if (!this.isFresh()) return 'unknown';
    const enabled = this.access.get(provider);
    if (enabled === null) return 'unknown';
    return enabled === false ? 'disabled' : 'enabled';
  }

  isBlocked(address: string): boolean {
    const until = this.blocked.get(address);
    return until !== undefined && until > this.clock.monotonicNanos();
  }

  noteBlocked(address: string, millis: number): void {
    if (this.blocked.size >= MAX_BLOCKED) this.forgetPast();
    const nanos = BigInt(Math.ceil(millis)) * NANOS_PER_MILLI;
    this.blocked.set(address, this.clock.monotonicNanos() + nanos);
  }

  /** Polls now. Polls run one after another, so that an older result never overwrites a newer one. */
  refresh(): Promise<void> {
    const poll = this.lastPoll.then(() => this.poll());
    this.lastPoll = poll.catch(() => undefined);
    return poll;
  }

  forgetPast(): void {
    const now = this.clock.monotonicNanos();
    for (const [address, until] of this.blocked) if (until <= now) this.blocked.delete(address);
  }

  private async poll(): Promise<void> {
    const began = this.clock.monotonicNanos();
    const update = await this.feed.news(this.applied.at - OVERLAP_S);
    if (update.keys !== this.applied.keys) await this.followKeys(update.keys);
    if (update.access !== this.applied.access) {
      this.access = new Map((await this.feed.access()).map(({ provider, enabled }) => [provider, enabled]));
    }
    for (const { address, millis } of update.blocked) this.noteBlocked(address, millis);
    this.applied = update;
    this.appliedAt = began;
  }

  /** At the start, and after a restore of the database from a backup, all cached entries are invalid. */
  private async followKeys(current: number): Promise<void> {
    const { keys: applied } = this.applied;
    const changed =
      applied === 0 || current < applied ? undefined : await this.feed.changedSince(applied, MAX_CHANGES);
    this.changes += 1;
    if (changed === undefined || changed.length >= MAX_CHANGES) {
      this.known.clear();
      this.unknown.clear();
      return;
    }
    for (const key of changed) this.store(key);
  }

  private store(key: KnownKey): void {
    this.unknown.delete(key.client_id);
    this.known.set(key.client_id, key);
  }
}
