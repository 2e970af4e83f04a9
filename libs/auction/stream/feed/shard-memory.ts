import { partiesOf } from '../../rules/told/concerned.js';
import { evolve } from '../../rules/evolve/evolve.js';
import type { AuctionState } from '../../rules/state.js';
import { decodeEvent } from '../../rules/event-versions.js';
import type { JournalEntry } from '#libs/journal/journal.js';
import type { Change } from './change.js';
import { ChangeBuffer } from './change-buffer.js';

export interface Applied {
  readonly changes: readonly Change[];
  readonly fault?: unknown;
}

/** The auctions of one shard by its journal: all live ones, and those that ended within the recent changes. */
export class ShardMemory {
  private readonly states = new Map<string, AuctionState>();
  private readonly liveByAccount = new Map<string, Set<string>>();
  private readonly recent: ChangeBuffer;
  private last = 0;

  constructor(historySize: number) {
    this.recent = new ChangeBuffer(historySize);
  }

  /** The last journal position that was applied. */
  get position(): number {
    return this.last;
  }

  /** Starts after `position` with the states at that time. */
  restore(position: number, states: Iterable<AuctionState>): void {
    this.last = position;
    this.recent.beginBehind(position);
    for (const state of states) {
      if (hasEnded(state)) continue;
      this.states.set(state.terms.auction_id, state);
      this.index(state);
    }
  }

  /** Applies entries up to the first one that cannot be read; `fault` has the reason. */
  apply(entries: readonly JournalEntry[]): Applied {
    const changes: Change[] = [];
    for (const entry of entries) {
      try {
        const change = entry.kind === 'event' ? this.applyOne(entry) : undefined;
        if (change !== undefined) changes.push(change);
      } catch (fault) {
        return { changes, fault };
      }
      this.last = entry.sequence;
    }
    return { changes };
  }

  find(auctionId: string): AuctionState | undefined {
    return this.states.get(auctionId);
  }

  *liveOf(account: string): Generator<AuctionState> {
    for (const id of this.liveByAccount.get(account) ?? []) {
      const state = this.states.get(id);
      if (state !== undefined) yield state;
    }
  }

  reaches(position: number): boolean {
    return this.recent.reaches(position);
  }

  since(position: number): Iterable<Change> {
    return this.recent.since(position);
  }

  private applyOne(entry: JournalEntry): Change | undefined {
    const event = decodeEvent(entry.payload);
    if (!('auction_id' in event)) return undefined;
    const placed = { position: entry.sequence, event };
    const before = this.states.get(event.auction_id);
    const after = evolve(before, placed);
    this.states.set(event.auction_id, after);
    if (before === undefined) this.index(after);
    else if (hasEnded(after)) this.unindex(after);
    const change = { placed, before, after };
    const forgotten = this.recent.push(change);
    if (forgotten !== undefined) this.forget(forgotten);
    return change;
  }

  /** An ended auction stays while its last change is recent. After that the projections have it. */
  private forget({ placed, after }: Change): void {
    if (placed.event.type === 'AUCTION_COMPLETED') this.states.delete(after.terms.auction_id);
  }

  private index(state: AuctionState): void {
    for (const account of partiesOf(state)) {
      const live = this.liveByAccount.get(account);
      if (live === undefined) this.liveByAccount.set(account, new Set([state.terms.auction_id]));
      else live.add(state.terms.auction_id);
    }
  }

  private unindex(state: AuctionState): void {
    for (const account of partiesOf(state)) {
      const live = this.liveByAccount.get(account);
      live?.delete(state.terms.auction_id);
      if (live?.size === 0) this.liveByAccount.delete(account);
    }
  }
}

/** Not by its status: the completion event of a cancelled auction may come in the next batch. */
function hasEnded({ completed_at: completedAt }: AuctionState): boolean {
  return completedAt !== undefined;
}
