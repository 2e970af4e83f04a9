import type { NumberedEntry } from '../../rules/told/timeline-entry.js';
import { viewVersion } from '../../rules/told/view.js';
import { type Clock, pause } from '#libs/platform/time/clock.js';
import type { Feed } from '../feed/feed.js';
import type { Outbox } from '#libs/socket/outbox.js';
import type { Archive } from '../ports.js';
import type { Subscription } from './subscription.js';
import type { SubscriptionTable } from './subscription-table.js';

export interface CatchUpPorts {
  readonly feed: Feed;
  readonly archive: Archive;
  readonly clock: Clock;
  readonly outbox: Outbox<Subscription>;
  readonly pageSize: number;
}

/** Reads may lag a moment behind the feed. */
const PATIENCE = { tries: 40, millis: 50 };

/**
 * Sends a subscription to one auction what its client missed before it: page by page, no faster than it is read. It ends at a
 * moment at which the feed is just as far, so that the feed goes on from there.
 */
export class CatchUp {
  private readonly round: number;
  private told: number;

  constructor(
    private readonly ports: CatchUpPorts,
    private readonly table: SubscriptionTable,
    private readonly subscription: Subscription,
  ) {
    this.round = table.round;
    this.told = subscription.told ?? 0;
  }

  /** `page` is what comes first, as far as it was read. */
  async run(page: readonly NumberedEntry[]): Promise<void> {
    let entries: readonly NumberedEntry[] | 'END' = page;
    while (entries !== 'END') {
      const isDone = await this.tell(entries);
      if (isDone || this.isVoid()) return;
      entries = await this.read();
    }
    if (!this.isVoid()) this.table.caughtUp(this.subscription);
  }

  /** True when the subscription is where the feed is. */
  private async tell(entries: readonly NumberedEntry[]): Promise<boolean> {
    const { outbox } = this.ports;
    for (const { seq, ...entry } of entries) {
      while (!outbox.hasRoom) await outbox.room();
      if (this.isVoid()) return true;
      const version = this.version();
      if (version !== undefined && seq > version) break;
      const isLast = version === undefined ? entry.kind === 'AUCTION_COMPLETED' : seq === version;
      this.told = seq;
      this.table.sendMissed(this.subscription, seq, entry, isLast);
      if (isLast) return true;
    }
    const version = this.version();
    if (version === undefined || this.told < version) return false;
    this.table.caughtUp(this.subscription);
    return true;
  }

  /** Rejects when what comes next cannot be read: the client resumes elsewhere. */
  private async read(): Promise<readonly NumberedEntry[] | 'END'> {
    const { archive, clock, pageSize } = this.ports;
    const auctionId = this.subscription.auctionId ?? '';
    for (let tries = 0; tries < PATIENCE.tries; tries += 1) {
      // Only what is read after the auction was over can be known to be all of it, and only where it is over to whoever answers: an owner
      // that has been replaced, and has not heard of it yet, tells what was.
      const isOver = this.version() === undefined;
      const page = await archive.events(this.table.account, auctionId, this.told, pageSize);
      if (this.isVoid()) return [];
      if (!('error' in page)) {
        if (page.entries.length > 0) return page.entries;
        if (isOver && page.isOver) return 'END';
      }
      await pause(clock, PATIENCE.millis);
    }
    throw new Error(`the timeline of ${auctionId} cannot be read behind ${this.told}`);
  }

  /** It was sent anew meanwhile, or is gone. */
  private isVoid(): boolean {
    return this.table.round !== this.round || !this.table.has(this.subscription);
  }

  /** The number of entries that the feed is at. Undefined for an auction that it has forgotten or will never know. */
  private version(): number | undefined {
    const { auctionId, isOver } = this.subscription;
    const viewerState = isOver ? undefined : this.ports.feed.find(auctionId ?? '', this.table.account);
    return viewerState === undefined ? undefined : viewVersion(viewerState.state, viewerState.viewer);
  }
}
