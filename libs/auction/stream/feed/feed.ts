import type { AuctionState } from '../../rules/state.js';
import { isOverFor, viewerOf, type Viewer } from '../../rules/told/viewer.js';
import type { JournalEntry, JournalReader } from '#libs/journal/journal.js';
import type { OfferedEvents } from '#libs/journal/offered.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { accountsOf, eventsFor, gainOf, type FeedEvent, type Gain } from './change.js';
import { Listeners, type FeedListener } from './listeners.js';
import { Pursuit } from './pursuit.js';
import { ShardMemory } from './shard-memory.js';
import { Waiters } from './waiters.js';

/** An auction that the viewer may see, as it is at the feed's present positions. */
export interface Sight {
  readonly state: AuctionState;
  readonly viewer: Viewer;
}

/** What owners say unasked. */
export interface HeardOf {
  readonly head: number;
  readonly records?: Omit<OfferedEvents, 'head'>;
}

/** What was behind `position`, so that the journal need not be read from its first record. */
export interface StartingPoint {
  readonly position: number;
  readonly states: Iterable<AuctionState>;
}

export interface FeedPorts {
  readonly reader: JournalReader;
  readonly clock: Clock;
  readonly shards: number;
  /** Changes of each shard that are kept for those who come back. */
  readonly history: number;
  readonly startingPoint: (shard: number) => Promise<StartingPoint>;
  readonly onFailure: (error: unknown, shard: number | undefined) => void;
}

/**
 * Follows the journals of all shards and tells every account what its own timelines gain. It holds what happened lately, so
 * that a position of a few moments ago can be continued from here, wherever it was given out.
 *
 * A record that it cannot read ends the shard for this process: it may be of a younger version, and whoever left it out would
 * tell wrong what follows. At damage the shard stands still, and goes on when something sound follows what was told: an operator may have
 * taken a forged record away. The other shards go on.
 */
export class Feed {
  private readonly memories: readonly ShardMemory[];
  private readonly listeners = new Listeners();
  private readonly waiters: Waiters;
  /** Why. */
  private readonly stopped = new Map<number, 'damaged' | 'not understood'>();
  private readonly pursuit: Pursuit;

  constructor(private readonly ports: FeedPorts) {
    this.memories = Array.from({ length: ports.shards }, () => new ShardMemory(ports.history));
    this.waiters = new Waiters(ports.clock);
    this.pursuit = new Pursuit({
      ...ports,
      shards: [...this.memories.keys()],
      recall: (shard) => this.recall(shard),
      positionOf: (shard) => this.memories[shard]?.position ?? 0,
      hasStopped: (shard) => this.stopped.has(shard),
      until: (isDone) => this.waiters.wait(isDone),
      onEntries: (shard, entries) => {
        this.take(shard, entries);
      },
      onDamage: (shard, error) => {
        this.stopAt(shard, 'damaged', error);
      },
    });
  }

  /** Resolves when everything that was in the journals is in memory, as far as it can be. */
  async start(): Promise<void> {
    await this.pursuit.start();
  }

  async stop(): Promise<void> {
    await this.pursuit.stop();
  }

  /** The shard's owner says that its journal has come to `head`, and perhaps what stands there. */
  hear(shard: number, { head, records }: HeardOf): void {
    if (records === undefined) this.pursuit.hint(shard, head);
    else this.pursuit.offer(shard, { head, ...records });
  }

  /** Shards of which nothing is told by this process, for as long as they stand here. */
  get stoppedShards(): readonly number[] {
    return [...this.stopped.keys()];
  }

  /**
   * Whether what is shown here to somebody new would be all there is. Not where a shard was damaged when this process began, and so it has
   * never known the end of it; nor where the records of a younger version go on without it. Damage behind what was told hides nothing.
   */
  get isWhole(): boolean {
    return this.pursuit.unknownShards.length === 0 && ![...this.stopped.values()].includes('not understood');
  }

  /** By shard, the last journal position that everybody has been told of. */
  positions(): number[] {
    return this.memories.map((memory) => memory.position);
  }

  /** By shard, where the journals end at this moment. */
  async heads(): Promise<number[]> {
    const heads = await this.ports.reader.heads();
    return this.memories.map((_, shard) => heads.get(shard) ?? 0);
  }

  hasReached(positions: readonly number[]): boolean {
    return this.memories.every((memory, shard) => memory.position >= (positions[shard] ?? 0));
  }

  /** Whether all has been told up to there, but for shards of which nothing is told. */
  hasRead(heads: readonly number[]): boolean {
    return this.memories.every(
      (memory, shard) => memory.position >= (heads[shard] ?? 0) || this.stopped.has(shard),
    );
  }

  /** Resolves with true as soon as `isDone` holds behind some batch, and with false after `millis`. */
  waitUntil(isDone: () => boolean, millis: number): Promise<boolean> {
    return this.waiters.wait(isDone, millis);
  }

  /** The auctions that are live for the account, newest first. */
  live(account: string): Sight[] {
    const sights: Sight[] = [];
    for (const memory of this.memories) {
      for (const state of memory.liveOf(account)) sights.push(...liveFor(account, state));
    }
    return sights.sort(newestFirst);
  }

  /** Undefined for an auction that is not in memory, and for one that the account may not see. */
  find(auctionId: string, account: string): Sight | undefined {
    for (const memory of this.memories) {
      const state = memory.find(auctionId);
      if (state === undefined) continue;
      const viewer = viewerOf(state, account);
      return viewer === undefined ? undefined : { state, viewer };
    }
    return undefined;
  }

  /** Whether everything behind this position of the shard is still held. */
  reaches(shard: number, position: number): boolean {
    return this.memories[shard]?.reaches(position) ?? false;
  }

  /** What the account's timelines gained out of the shard behind `position`; to be taken without waiting for anything. */
  *since(account: string, shard: number, position: number): Generator<FeedEvent> {
    for (const change of this.memories[shard]?.since(position) ?? []) {
      if (accountsOf(change).includes(account)) yield* eventsFor(change, account);
    }
  }

  /** The same, counted instead of told. */
  *gainsSince(account: string, shard: number, position: number): Generator<Gain> {
    for (const change of this.memories[shard]?.since(position) ?? []) {
      if (accountsOf(change).includes(account)) yield gainOf(change, account);
    }
  }

  /** The auctions of the shard that may not have been over for the account at this position; everything behind it must be held. */
  openAt(account: string, shard: number, position: number): string[] {
    const ids = new Set<string>();
    for (const { terms } of this.memories[shard]?.liveOf(account) ?? []) ids.add(terms.auction_id);
    for (const { auctionId } of this.gainsSince(account, shard, position)) ids.add(auctionId);
    return [...ids];
  }

  /** What was live for the account when the shard was there; everything behind it must be held. */
  liveAt(account: string, shard: number, position: number): Sight[] {
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

  private async recall(shard: number): Promise<void> {
    const { position, states } = await this.ports.startingPoint(shard);
    this.memories[shard]?.restore(position, states);
    // What had kept it from being known is gone.
    this.stopped.delete(shard);
  }

  private take(shard: number, entries: readonly JournalEntry[]): void {
    const memory = this.memories[shard];
    if (memory === undefined || this.stopped.get(shard) === 'not understood') return;
    this.stopped.delete(shard);
    const { changes, fault } = memory.apply(entries);
    this.listeners.tell(shard, changes);
    if (fault !== undefined) this.stopAt(shard, 'not understood', fault);
    this.waiters.look();
  }

  private stopAt(shard: number, why: 'damaged' | 'not understood', fault: unknown): void {
    const isKnown = this.stopped.get(shard) === why;
    this.stopped.set(shard, why);
    if (!isKnown) this.ports.onFailure(fault, shard);
    this.waiters.look();
  }
}

/** Nothing where the auction is over for the account, or none of its own. */
export function liveFor(account: string, state: AuctionState | undefined): Sight[] {
  const viewer = state === undefined ? undefined : viewerOf(state, account);
  return state === undefined || viewer === undefined || isOverFor(state, viewer) ? [] : [{ state, viewer }];
}

export function newestFirst({ state: one }: Sight, { state: other }: Sight): number {
  if (one.terms.opened_at !== other.terms.opened_at) {
    return one.terms.opened_at < other.terms.opened_at ? 1 : -1;
  }
  return one.terms.auction_id < other.terms.auction_id ? 1 : -1;
}
