import { evolve } from '../../rules/evolve/evolve.js';
import type { AuctionState } from '../../rules/state.js';
import type { StreamLimits } from '../stream-limits.js';
import type { HistoryPart } from '../../protocol/histories.js';
import { accountsOf, eventsFor, type FeedEvent } from './change.js';

export type HistoryPageLimits = Pick<StreamLimits, 'historyPageEvents' | 'historyPageBytes'>;

/**
 * The entries that an account's timelines gained after a position, from the histories of its auctions. A page is
 * limited; the remainder belongs to the next one.
 */
export class HistoryPage {
  private events: FeedEvent[] = [];
  private bytes = 0;
  private last: number;
  private auctionId = '';
  private state: AuctionState | undefined;

  constructor(
    private readonly account: string,
    readonly behind: number,
    upTo: number,
    private readonly limits: HistoryPageLimits,
  ) {
    this.last = upTo;
  }

  /** The page holds everything up to this position and nothing after it. */
  get upTo(): number {
    return this.last;
  }

  add({ auctionId, events }: HistoryPart): void {
    if (auctionId !== this.auctionId) this.state = undefined;
    this.auctionId = auctionId;
    for (const placed of events) {
      const before = this.state;
      const after = evolve(before, placed);
      this.state = after;
      if (placed.position <= this.behind || placed.position > this.last) continue;
      const change = { placed, before, after };
      if (accountsOf(change).includes(this.account)) this.keep(eventsFor(change, this.account));
    }
  }

  /** The entries in journal order, once all histories were added. */
  end(): readonly FeedEvent[] {
    this.shorten();
    return this.events;
  }

  private keep(events: readonly FeedEvent[]): void {
    this.events.push(...events);
    this.bytes += bytesOf(events);
    // Not after each event, because it sorts.
    const { historyPageEvents, historyPageBytes } = this.limits;
    if (this.events.length > 2 * historyPageEvents || this.bytes > 2 * historyPageBytes) this.shorten();
  }

  /** Never cuts between the entries of one position. */
  private shorten(): void {
    this.events.sort((one, other) => one.position - other.position || one.timelineSeq - other.timelineSeq);
    const { historyPageEvents, historyPageBytes } = this.limits;
    let [kept, bytes] = [0, 0];
    for (const event of this.events) {
      const isNext = event.position !== this.events[kept - 1]?.position;
      if (kept > 0 && isNext && (kept >= historyPageEvents || bytes >= historyPageBytes)) {
        this.last = this.events[kept - 1]?.position ?? this.last;
        break;
      }
      kept += 1;
      bytes += event.members.length;
    }
    this.events = this.events.slice(0, kept);
    this.bytes = bytes;
  }
}

function bytesOf(events: readonly FeedEvent[]): number {
  return events.reduce((sum, { members }) => sum + members.length, 0);
}
