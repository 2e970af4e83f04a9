import { decideCompletion } from '../../rules/completion.js';
import type { AuctionEvent, Placed } from '../../rules/events.js';
import type { Instant } from '#libs/base/instant.js';
import { evolve } from '../../rules/evolve/evolve.js';
import { isLive, type AuctionState } from '../../rules/state.js';
import type { Entity } from '#libs/shard/task.js';
import { IdempotencyIndex } from '#libs/shard/idempotency-index.js';
import { Sharing } from './sharing.js';

/** An auction in the owner's memory. */
export interface AuctionEntry extends Entity<AuctionState> {
  readonly id: string;
  /** Journal positions of the auction's events, in order. */
  readonly positions: number[];
  /** Journal positions of the commands on it. */
  readonly commands: IdempotencyIndex;
  /** The earliest deadline that is scheduled for it. */
  dueAt: Instant | undefined;
  /** It is closed, and its awards are counted against their makers' protection. The outcome may be decided. */
  mayDecide: boolean;
  /** Position of the outcome. From here on the auction is over for makers without an award. */
  decidedAt: number | undefined;
  /** Positions where the winners' awards ended, by maker. From there on the auction is over for that winner. */
  awardEnds: Map<string, number> | undefined;
  /** Position of its last event. */
  completedAt: number | undefined;
}

/** All auctions that this shard keeps in memory: the live ones, and completed ones until the projections have them. */
export class AuctionBook {
  private readonly entries = new Map<string, AuctionEntry>();
  private readonly byAccount = new Map<string, Map<string, AuctionEntry>>();
  /** Completed and not yet evicted, in the order of completion. */
  private completed: AuctionEntry[] = [];
  private live = 0;
  private readonly sharing = new Sharing();

  get size(): number {
    return this.entries.size;
  }

  get liveCount(): number {
    return this.live;
  }

  all(): IterableIterator<AuctionEntry> {
    return this.entries.values();
  }

  find(auctionId: string): AuctionEntry | undefined {
    return this.entries.get(auctionId);
  }

  /** Every auction in which the account is originator or invited, in no particular order. */
  of(account: string): Iterable<AuctionEntry> {
    return this.byAccount.get(account)?.values() ?? [];
  }

  /**
   * An auction in which the account is originator or invited. The auction of others and an unknown id fail at the same step, so
   * that the response time reveals nothing.
   */
  findFor(account: string, auctionId: string): AuctionEntry | undefined {
    return this.byAccount.get(account)?.get(auctionId);
  }

  /** Applies an event to `head` before it is durable. */
  apply(placed: Placed<AuctionEvent>): AuctionEntry {
    const { event, position } = placed;
    const entry = this.entries.get(event.auction_id);
    if (entry === undefined) return this.enter(this.opened(placed), placed);
    const wasLive = isLive(entry.head.status);
    entry.head = evolve(entry.head, placed);
    entry.positions.push(position);
    this.note(entry, placed);
    if (wasLive && !isLive(entry.head.status)) this.live -= 1;
    return entry;
  }

  /** Adds an entry from a snapshot. */
  restore(entry: AuctionEntry): void {
    entry.head = this.sharing.state(entry.head);
    entry.durable = entry.head;
    this.entries.set(entry.id, entry);
    this.index(entry);
    if (isLive(entry.head.status)) this.live += 1;
    else this.completed.push(entry);
  }

  /** Completed auctions that are projected. */
  overBy(projectedTo: number): readonly AuctionEntry[] {
    const kept = this.completed.findIndex((entry) => (entry.completedAt ?? Infinity) > projectedTo);
    return kept < 0 ? this.completed : this.completed.slice(0, kept);
  }

  /** Removes them from memory. */
  evict(projectedTo: number): void {
    const evicted = this.overBy(projectedTo);
    this.completed = this.completed.slice(evicted.length);
    for (const entry of evicted) this.forget(entry);
  }

  private forget(entry: AuctionEntry): void {
    this.entries.delete(entry.id);
    for (const account of accountsOf(entry.head)) {
      const entriesOfAccount = this.byAccount.get(account);
      entriesOfAccount?.delete(entry.id);
      if (entriesOfAccount?.size === 0) this.byAccount.delete(account);
    }
  }

  private opened(placed: Placed<AuctionEvent>): AuctionState {
    return this.sharing.state(evolve(undefined, placed));
  }

  private enter(state: AuctionState, placed: Placed<AuctionEvent>): AuctionEntry {
    const entry: AuctionEntry = {
      id: placed.event.auction_id,
      head: state,
      durable: undefined,
      mayDecide: false,
      positions: [placed.position],
      commands: new IdempotencyIndex(),
      dueAt: undefined,
      decidedAt: undefined,
      awardEnds: undefined,
      completedAt: undefined,
    };
    this.entries.set(entry.id, entry);
    this.index(entry);
    this.note(entry, placed);
    this.live += 1;
    return entry;
  }

  private index(entry: AuctionEntry): void {
    for (const account of accountsOf(entry.head)) {
      const entriesOfAccount = this.byAccount.get(account);
      if (entriesOfAccount === undefined) this.byAccount.set(account, new Map([[entry.id, entry]]));
      else entriesOfAccount.set(entry.id, entry);
    }
  }

  private note(entry: AuctionEntry, { event, position }: Placed<AuctionEvent>): void {
    if (event.command !== undefined) {
      entry.commands.note(event.command, position);
    }
    if (event.type === 'AUCTION_AWARDED' || event.type === 'AUCTION_NOT_AWARDED') entry.decidedAt = position;
    if (event.type === 'EXECUTION_CONFIRMED' || event.type === 'EXECUTION_FAILED') {
      const award = entry.head.awards.find(({ award_id: id }) => id === event.data.award_id);
      if (award !== undefined) (entry.awardEnds ??= new Map()).set(award.maker, position);
    }
    if (event.type === 'AUCTION_COMPLETED') {
      entry.completedAt = position;
      entry.decidedAt ??= position;
      this.completed.push(entry);
    }
  }
}

function accountsOf(state: AuctionState): string[] {
  return [state.terms.originator.account_id, ...state.terms.audience.map((party) => party.account_id)];
}

/** When the auction next has something to do without a command. */
export function nextDue(state: AuctionState): Instant | undefined {
  if (state.status === 'OPEN') {
    let due = state.terms.closes_at;
    for (const book of state.books) {
      const quote = book.quotes.at(-1);
      if (quote?.status === 'ACTIVE' && quote.expires_at !== undefined && quote.expires_at < due) {
        due = quote.expires_at;
      }
    }
    return due;
  }
  // The journal has only a part of a decision. The remainder is overdue.
  if (state.status === 'CLOSED' || decideCompletion(state).length > 0) return state.terms.opened_at;
  return isLive(state.status) ? state.execution_deadline : undefined;
}
