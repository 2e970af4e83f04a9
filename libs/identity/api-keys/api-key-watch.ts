import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { PacedPoll } from '#libs/platform/time/paced-poll.js';
import { within } from '../quick-query.js';
import { WATCH_DEFAULTS, type WatchSettings } from '../revocation/identity-watch.js';
import { BoundedCache } from '../tokens/bounded-cache.js';
import type { ApiKeyFeed } from './api-key-feed.js';
import type { KnownKey } from './api-key-rows.js';

export type AccessState = 'enabled' | 'disabled' | 'unknown';

/** Entries of one kind; a flood of unknown ids must not displace keys. */
const MOST_KEYS = 20_000;
/** After more changes than that at once, everything is forgotten and read again. */
const MOST_CHANGES = 2_000;
const MOST_BLOCKED = 100_000;
/** A block may be committed a little after its moment. */
const OVERLAP_S = 3;
/** How long a caller waits for the database when memory cannot tell. */
const ASK_MS = 1_000;

/**
 * Keeps used keys, the access of providers and blocked addresses in memory and follows their changes. It gives no answer from data
 * that is too old.
 */
export class ApiKeyWatch {
  private readonly known = new BoundedCache<KnownKey>(MOST_KEYS);
  private readonly unknown = new BoundedCache<true>(MOST_KEYS);
  /** Until when, by the monotonic clock. */
  private readonly blocked = new Map<string, bigint>();
  private access: ReadonlyMap<string, boolean | null> = new Map();
  private seen = { keys: 0, access: 0, at: 0 };
  private seenAt: bigint | undefined;
  /** Rises with each change that was followed: a result that was read before may be older than the change. */
  private changes = 0;
  private turn: Promise<void> = Promise.resolve();
  /** One poll for all waiting callers. */
  private freshening: Promise<void> | undefined;
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

  /** Polls once, which must succeed, and goes on polling. */
  async start(): Promise<void> {
    await this.refresh();
    this.polls.start();
  }

  stop(): void {
    this.polls.stop();
  }

  isFresh(): boolean {
    this.polls.wanted();
    if (this.seenAt === undefined) return false;
    return this.clock.monotonicNanos() - this.seenAt <= this.maxAgeNanos;
  }

  /** After an idle time the first caller waits for a poll. False: changes cannot be followed. */
  async makeFresh(): Promise<boolean> {
    if (this.isFresh()) return true;
    this.freshening ??= this.refresh().finally(() => {
      this.freshening = undefined;
    });
    await within(this.clock, ASK_MS, this.freshening).catch(() => undefined);
    return this.isFresh();
  }

  /** `absent` only for an id that was looked up; undefined: it has to be looked up. */
  keyOf(client_id: string): KnownKey | 'absent' | undefined {
    const known = this.known.get(client_id);
    if (known !== undefined) return known;
    return this.unknown.get(client_id) === true ? 'absent' : undefined;
  }

  /** Asks the database, again if changes were followed meanwhile. */
  async load(client_id: string): Promise<KnownKey | 'absent'> {
    for (;;) {
      const before = this.changes;
      const key = await within(this.clock, ASK_MS, this.feed.keyOf(client_id));
      if (before !== this.changes) continue;
      if (key === undefined) this.unknown.set(client_id, true);
      else this.note(key);
      return key ?? 'absent';
    }
  }

  /** Whether calls with keys may reach a provider. */
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
    if (this.blocked.size >= MOST_BLOCKED) this.forgetPast();
    const nanos = BigInt(Math.ceil(millis)) * NANOS_PER_MILLI;
    this.blocked.set(address, this.clock.monotonicNanos() + nanos);
  }

  /** Polls now, one poll after another: an older one never overwrites what a newer one read. */
  refresh(): Promise<void> {
    const poll = this.turn.then(() => this.poll());
    this.turn = poll.catch(() => undefined);
    return poll;
  }

  forgetPast(): void {
    const now = this.clock.monotonicNanos();
    for (const [address, until] of this.blocked) if (until <= now) this.blocked.delete(address);
  }

  private async poll(): Promise<void> {
    const began = this.clock.monotonicNanos();
    const news = await this.feed.news(this.seen.at - OVERLAP_S);
    if (news.keys !== this.seen.keys) await this.followKeys(news.keys);
    if (news.access !== this.seen.access) {
      this.access = new Map((await this.feed.access()).map(({ provider, enabled }) => [provider, enabled]));
    }
    for (const { address, millis } of news.blocked) this.noteBlocked(address, millis);
    this.seen = news;
    this.seenAt = began;
  }

  /** At first, and after the database was restored from a backup, all cached entries are invalid. */
  private async followKeys(current: number): Promise<void> {
    const { keys: seen } = this.seen;
    const changed =
      seen === 0 || current < seen ? undefined : await this.feed.changedSince(seen, MOST_CHANGES);
    this.changes += 1;
    if (changed === undefined || changed.length >= MOST_CHANGES) {
      this.known.clear();
      this.unknown.clear();
      return;
    }
    for (const key of changed) this.note(key);
  }

  private note(key: KnownKey): void {
    this.unknown.delete(key.client_id);
    this.known.set(key.client_id, key);
  }
}
