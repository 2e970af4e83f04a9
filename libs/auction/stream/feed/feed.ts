import type { AuctionState } from '../../rules/state.js';
import { isOverFor, viewerOf, type Viewer } from '../../rules/told/viewer.js';
import type { JournalEntry, JournalReader } from '#libs/journal/journal.js';
import type { OfferedEvents } from '#libs/journal/offered.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { accountsOf, eventsFor, gainOf, type FeedEvent, type Gain } from './change.js';
import { Listeners, type FeedListener } from './listeners.js';
import { FeedFollower } from './feed-follower.js';
import { ShardMemory } from './shard-memory.js';
import { Waiters } from '#libs/platform/time/waiters.js';

/** An auction that the viewer may see, at the feed's present positions. */
export interface ViewerState {
  readonly state: AuctionState;
  readonly viewer: Viewer;
}

/** A notice that an owner sends on its own. */
export interface HeardOf {
  readonly head: number;
  readonly records?: Omit<OfferedEvents, 'head'>;
}

/** The states at `position`, so that the journal need not be read from its first record. */
export interface StartingPoint {
  readonly position: number;
  readonly states: Iterable<AuctionState>;
}

export interface FeedPorts {
  readonly reader: JournalReader;
  readonly clock: Clock;
  readonly shards: number;
  /** How many changes of each shard are kept for clients that resume. */
  readonly history: number;
  readonly startingPoint: (shard: number) => Promise<StartingPoint>;
  readonly onFailure: (error: unknown, shard: number | undefined) => void;
}

/**
 * Follows the journals of all shards and sends each account the new entries of its timelines. Recent changes stay
 * in memory, so that clients of any gateway can resume here. An unreadable record stops its shard; damage stops it
 * until a sound record follows.
 */
export class Feed {
  private readonly memories: readonly ShardMemory[];
  private readonly listeners = new Listeners();
  private readonly waiters: Waiters;
  /** Shards that have stopped, and why. */
  private readonly stopped = new Map<number, 'damaged' | 'not understood'>();
  private readonly follower: FeedFollower;

  constructor(private readonly ports: FeedPorts) {
    this.memories = Array.from({ length: ports.shards }, () => new ShardMemory(ports.history));
    this.waiters = new Waiters(ports.clock);
    this.follower = new FeedFollower({
      ...ports,
      shards: [...this.memories.keys()],
      restore: (shard) => this.restore(shard),
      positionOf: (shard) => this.memories[shard]?.position ?? 0,
      hasStopped: (shard) => this.stopped.has(shard),
      until: (isDone) => this.waiters.wait(isDone),
      onEntries: (shard, entries) => {
        this.apply(shard, entries);
      },
      onDamage: (shard, error) => {
        this.stopAt(shard, 'damaged', error);
      },
    });
  }

  /** Resolves when everything in the journals is in memory, as far as it can be read. */
  async start(): Promise<void> {
    await this.follower.start();
  }

  async stop(): Promise<void> {
    await this.follower.stop();
  }

  /** A notice of the shard's owner: the new head of the journal, perhaps with the records. */
  hear(shard: number, { head, records }: HeardOf): void {
    if (records === undefined) this.follower.hint(shard, head);
    else this.follower.offer(shard, { head, ...records });
  }

  /** Shards that have stopped in this process. */
  get stoppedShards(): readonly number[] {
    return [...this.stopped.keys()];
  }

  /**
   * Whether a new client would see everything. False if a shard was damaged when this process started, or if
   * records of a later version are skipped. Damage after what was read hides nothing.
   */
  get isWhole(): boolean {
    return this.follower.unknownShards.length === 0 && ![...this.stopped.values()].includes('not understood');
  }

  /** By shard, the last journal position that every listener was notified of. */
  positions(): number[] {
    return this.memories.map((memory) => memory.position);
  }

  /** By shard, the present head of the journal. */
  async heads(): Promise<number[]> {
    const heads = await this.ports.reader.heads();
    return this.memories.map((_, shard) => heads.get(shard) ?? 0);
  }

  hasReached(positions: readonly number[]): boolean {
    return this.memories.every((memory, shard) => memory.position >= (positions[shard] ?? 0));
  }

  /** Whether everything up to these heads was read, except on shards that have stopped. */
  hasRead(heads: readonly number[]): boolean {
    return this.memories.every(
      (memory, shard) => memory.position >= (heads[shard] ?? 0) || this.stopped.has(shard),
    );
  }

  /** Resolves with true once `isDone` holds after a batch, or with false after `millis`. */
  waitUntil(isDone: () => boolean, millis: number): Promise<boolean> {
    return this.waiters.wait(isDone, millis);
  }

  /** The auctions that are live for the account, newest first. */
  live(account: string): ViewerState[] {
    const viewerStates: ViewerState[] = [];
    for (const memory of this.memories) {
      for (const state of memory.liveOf(account)) viewerStates.push(...liveFor(account, state));
    }
    return viewerStates.sort(newestFirst);
  }

  /** Undefined if the auction is not in memory, or if the account may not see it. */
  find(auctionId: string, account: string): ViewerState | undefined {
    for (const memory of this.memories) {
      const state = memory.find(auctionId);
      if (state === undefined) continue;
      const viewer = viewerOf(state, account);
      return viewer === undefined ? undefined : { state, viewer };
    }
    return undefined;
  }

  /** Whether everything after this position of the shard is still in memory. */
  reaches(shard: number, position: number): boolean {
    return this.memories[shard]?.reaches(position) ?? false;
  }

  /**
   * The entries that the account's timelines gained from the shard after `position`. To be iterated without
   * awaiting.
   */
  *since(account: string, shard: number, position: number): Generator<FeedEvent> {
    for (const change of this.memories[shard]?.since(position) ?? []) {
      if (accountsOf(change).includes(account)) yield* eventsFor(change, account);
    }
  }

  /** The same, only counted. */
  *gainsSince(account: string, shard: number, position: number): Generator<Gain> {
    for (const change of this.memories[shard]?.since(position) ?? []) {
      if (accountsOf(change).includes(account)) yield gainOf(change, account);
    }
  }

  /**
   * The auctions of the shard that may have been open for the account at this position. Everything after it must be
   * in memory.
   */
  openAt(account: string, shard: number, position: number): string[] {
    const ids = new Set<string>();
    for (const { terms } of this.memories[shard]?.liveOf(account) ?? []) ids.add(terms.auction_id);
    for (const { auctionId } of this.gainsSince(account, shard, position)) ids.add(auctionId);
    return [...ids];
  }

  /** The auctions that were live for the account at this position. Everything after it must be in memory. */
  liveAt(account: string, shard: number, position: number): ViewerState[] {
    const changed = new Map<string, AuctionState | undefined>();
    for (const { before, after } of this.memories[shard]?.since(position) ?? []) {
      const { auction_id: id } = after.terms;
      if (!changed.has(id)) changed.set(id, before);
    }
    return this.openAt(account, shard, position).flatMap((id) =>
      liveFor(account, changed.has(id) ? changed.get(id) : this.memories[shard]?.find(id)),
    );
  }

  listen(account: string, listener: FeedListener): () => void {
    return this.listeners.add(account, listener);
  }

  private async restore(shard: number): Promise<void> {
    const { position, states } = await this.ports.startingPoint(shard);
    this.memories[shard]?.restore(position, states);
    // The cause of an earlier stop is gone.
    this.stopped.delete(shard);
  }

  private apply(shard: number, entries: readonly JournalEntry[]): void {
    const memory = this.memories[shard];
    if (memory === undefined || this.stopped.get(shard) === 'not understood') return;
    this.stopped.delete(shard);
    const { changes, fault } = memory.apply(entries);
    this.listeners.notify(shard, changes);
    if (fault !== undefined) this.stopAt(shard, 'not understood', fault);
    this.waiters.check();
  }

  private stopAt(shard: number, why: 'damaged' | 'not understood', fault: unknown): void {
    const isKnown = this.stopped.get(shard) === why;
    this.stopped.set(shard, why);
    if (!isKnown) this.ports.onFailure(fault, shard);
    this.waiters.check();
  }
}

/** Empty if the auction is over for the account, or invisible to it. */
export function liveFor(account: string, state: AuctionState | undefined): ViewerState[] {
  const viewer = state === undefined ? undefined : viewerOf(state, account);
  return state === undefined || viewer === undefined || isOverFor(state, viewer) ? [] : [{ state, viewer }];
}

export function newestFirst({ state: one }: ViewerState, { state: other }: ViewerState): number {
  if (one.terms.opened_at !== other.terms.opened_at) {
    return one.terms.opened_at < other.terms.opened_at ? 1 : -1;
  }
  return one.terms.auction_id < other.terms.auction_id ? 1 : -1;
}
