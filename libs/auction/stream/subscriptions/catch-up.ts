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

/** Reads may lag a moment after the feed. */
const PATIENCE = { tries: 40, millis: 50 };

/**
 * Sends a subscription to one auction the entries that its client missed, page by page and no faster than they are
 * read. It ends at a moment when the feed is equally far, so the feed continues from there.
 */
export class CatchUp {
  private readonly round: number;
  private sent: number;

  constructor(
    private readonly ports: CatchUpPorts,
    private readonly table: SubscriptionTable,
    private readonly subscription: Subscription,
  ) {
    this.round = table.round;
    this.sent = subscription.told ?? 0;
  }

  /** `page` are the first entries, if they were read already. */
  async run(page: readonly NumberedEntry[]): Promise<void> {
    let entries: readonly NumberedEntry[] | 'END' = page;
    while (entries !== 'END') {
      const isDone = await this.send(entries);
      if (isDone || this.isObsolete()) return;
      entries = await this.read();
    }
    if (!this.isObsolete()) this.table.caughtUp(this.subscription);
  }

  /** True once the subscription is where the feed is. */
  private async send(entries: readonly NumberedEntry[]): Promise<boolean> {
    const { outbox } = this.ports;
    for (const { seq, ...entry } of entries) {
      while (!outbox.hasRoom) await outbox.room();
      if (this.isObsolete()) return true;
      const version = this.version();
      if (version !== undefined && seq > version) break;
      const isLast = version === undefined ? entry.kind === 'AUCTION_COMPLETED' : seq === version;
      this.sent = seq;
      this.table.sendMissed(this.subscription, seq, entry, isLast);
      if (isLast) return true;
    }
    const version = this.version();
    if (version === undefined || this.sent < version) return false;
    this.table.caughtUp(this.subscription);
    return true;
  }

  /** Rejects if the next entries cannot be read. The client then resumes elsewhere. */
  private async read(): Promise<readonly NumberedEntry[] | 'END'> {
    const { archive, clock, pageSize } = this.ports;
    const auctionId = this.subscription.auctionId ?? '';
    for (let tries = 0; tries < PATIENCE.tries; tries += 1) {
      // An answer is complete only if it was read after the end and shows the end: the next owner of a shard may
      // not know it yet.
      const isOver = this.version() === undefined;
      const page = await archive.events(this.table.account, auctionId, this.sent, pageSize);
      if (this.isObsolete()) return [];
      if (!('error' in page)) {
        if (page.entries.length > 0) return page.entries;
        if (isOver && page.isOver) return 'END';
      }
      await pause(clock, PATIENCE.millis);
    }
    throw new Error(`the timeline of ${auctionId} cannot be read after ${this.sent}`);
  }

  /** It was sent again meanwhile, or is gone. */
  private isObsolete(): boolean {
    return this.table.round !== this.round || !this.table.has(this.subscription);
  }

  /** The number of entries that the feed has. Undefined if the feed has forgotten the auction or will never know it. */
  private version(): number | undefined {
    const { auctionId, isOver } = this.subscription;
    const viewerState = isOver ? undefined : this.ports.feed.find(auctionId ?? '', this.table.account);
    return viewerState === undefined ? undefined : viewVersion(viewerState.state, viewerState.viewer);
  }
}
