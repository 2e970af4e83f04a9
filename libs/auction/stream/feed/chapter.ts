import { evolve } from '../../rules/evolve/evolve.js';
import type { AuctionState } from '../../rules/state.js';
import type { StreamLimits } from '../stream-limits.js';
import type { HistoryPart } from '../ports.js';
import { accountsOf, eventsFor, type FeedEvent } from './change.js';

export type ChapterLimits = Pick<StreamLimits, 'chapterEvents' | 'chapterBytes'>;

/**
 * What an account's timelines gained behind a position, found in the histories of its auctions one after the other. It holds
 * only so much, whatever there is: the rest belongs into the next chapter.
 */
export class Chapter {
  private events: FeedEvent[] = [];
  private bytes = 0;
  private last: number;
  private auctionId = '';
  private state: AuctionState | undefined;

  constructor(
    private readonly account: string,
    readonly behind: number,
    upTo: number,
    private readonly limits: ChapterLimits,
  ) {
    this.last = upTo;
  }

  /** Everything up to here is in it, and nothing behind. */
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
      if (accountsOf(change).includes(this.account)) this.tell(eventsFor(change, this.account));
    }
  }

  /** In the order of the journal, once all histories have been added. */
  end(): readonly FeedEvent[] {
    this.shorten();
    return this.events;
  }

  private tell(events: readonly FeedEvent[]): void {
    this.events.push(...events);
    this.bytes += bytesOf(events);
    // Now and then, for it is to be put in order each time.
    const { chapterEvents, chapterBytes } = this.limits;
    if (this.events.length > 2 * chapterEvents || this.bytes > 2 * chapterBytes) this.shorten();
  }

  /** Never between the entries of one position. */
  private shorten(): void {
    this.events.sort((one, other) => one.position - other.position || one.timelineSeq - other.timelineSeq);
    const { chapterEvents, chapterBytes } = this.limits;
    let [kept, bytes] = [0, 0];
    for (const event of this.events) {
      const isNext = event.position !== this.events[kept - 1]?.position;
      if (kept > 0 && isNext && (kept >= chapterEvents || bytes >= chapterBytes)) {
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
