import type { TimelineEntry } from '../../rules/told/timeline-entry.js';
import type { FeedEvent } from '../feed/change.js';
import { isOverFor } from '../../rules/told/viewer.js';
import type { ViewerState } from '../feed/feed.js';
import type { FeedListener } from '../feed/listeners.js';
import type { HistoryCatchUp } from '../feed/history-catch-up.js';
import type { StreamLimits } from '../stream-limits.js';
import type { Outbox } from '#libs/socket/outbox.js';
import type { Channel, ResumePoint } from '../resume-point.js';
import type { ResyncReason, SubscriptionName } from '../server-messages.js';
import { ResumeCursor, type ResumeCursorPorts, type ConnectionName } from './resume-cursor.js';
import { Resumption, type Broken, type Reasons } from './resumption.js';
import type { Seen, Subscription } from './subscription.js';
import { EventNumbering } from './event-numbering.js';

export interface SubscriptionTablePorts extends ResumeCursorPorts {
  readonly limits: StreamLimits;
  readonly outbox: Outbox<Subscription>;
  readonly onResync: (reason: ResyncReason) => void;
  /**
   * The auction must be shown but is not in the feed's memory. Expects `showEnded`, unless all are sent again
   * meanwhile.
   */
  readonly onNotHere: (subscription: Subscription) => void;
  /** The client must still be sent what it missed before the subscription. */
  readonly onBehind: (subscription: Subscription) => void;
  /** Sending to the connection failed. */
  readonly onFault: (error: unknown) => void;
}

/** The subscriptions of one connection: started, resumed, sent again, ended. */
export class SubscriptionTable implements FeedListener {
  private readonly cursor: ResumeCursor;
  private readonly numbering: EventNumbering;
  private unlisten: (() => void) | undefined;
  private resumption: Resumption | undefined;
  /** What the feed has read and the subscriptions were not sent yet. */
  private inDelivery: { readonly events: readonly FeedEvent[]; next: number } = { events: [], next: 0 };
  private waitingForLive: (() => void)[] = [];
  private isStopped = false;

  constructor(
    private readonly ports: SubscriptionTablePorts,
    private readonly name: ConnectionName,
  ) {
    const { outbox, clock, limits } = ports;
    this.cursor = new ResumeCursor(ports, name);
    this.numbering = new EventNumbering(outbox, this.cursor, clock, limits.snapshotPart);
  }

  get account(): string {
    return this.name.account;
  }

  get size(): number {
    return this.numbering.size;
  }

  /** Changes whenever all subscriptions are sent again. */
  get round(): number {
    return this.numbering.currentRound;
  }

  get names(): SubscriptionName[] {
    return this.numbering.all().map(({ id, channel, auctionId }) => ({
      subscription_id: id,
      channel,
      ...(auctionId === undefined ? {} : { auction_id: auctionId }),
    }));
  }

  /** A heartbeat, with a token. */
  beat(): void {
    this.numbering.beat();
  }

  add(channel: Channel, auctionId: string | undefined, told?: number): Subscription {
    return this.numbering.add(channel, auctionId, told);
  }

  has(subscription: Subscription): boolean {
    return this.numbering.has(subscription);
  }

  remove(id: string): boolean {
    const isRemoved = this.numbering.remove(id);
    if (this.size === 0) this.stopListening();
    this.resumption?.look();
    return isRemoved;
  }

  /** Resolves when the connection was sent all that it missed. No subscription starts before. */
  live(): Promise<void> {
    if (this.resumption === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      this.waitingForLive.push(resolve);
    });
  }

  /** From here on the subscription gets what the account's timelines gain. */
  begin(subscription: Subscription, viewerStates: readonly ViewerState[]): void {
    this.numbering.sendSnapshot(subscription, viewerStates, true);
    this.listen();
  }

  /** The snapshot of a subscription that then gets the entries it missed, and nothing else before them. */
  beginBehind(subscription: Subscription, viewerState: ViewerState): void {
    this.numbering.sendSnapshot(subscription, [viewerState], false);
  }

  /** An earlier entry. With the last one the subscription must be where the feed is now. */
  sendMissed(subscription: Subscription, timelineSeq: number, entry: TimelineEntry, isLast: boolean): void {
    this.numbering.sendMissed(subscription, timelineSeq, entry, isLast);
    if (isLast) this.listen();
  }

  /** The same if no entry is left to send. */
  caughtUp(subscription: Subscription): void {
    this.numbering.complete(subscription);
    this.listen();
  }

  /** The view of an auction that is over for the account, as JSON text. No events will follow. */
  showEnded(subscription: Subscription, view: string): void {
    this.numbering.sendEnded(subscription, view);
  }

  /** Restores the subscriptions of a token. Sends nothing yet. */
  restore(point: ResumePoint, seen: Seen): void {
    this.numbering.restore(point, seen);
  }

  /** Sends what happened since the token, and then a snapshot to subscriptions that cannot continue. */
  resume(point: ResumePoint, broken: Broken, history: HistoryCatchUp): void {
    const { feed, clock, limits, outbox, onResync, onFault } = this.ports;
    if (this.size === 0) return;
    const resumption = new Resumption(
      {
        outbox,
        numbering: this.numbering,
        history,
        feed,
        clock,
        account: this.account,
        patienceMillis: limits.catchUpMillis,
        onResync,
        onDone: (left) => {
          this.keepUpWithFeed();
          this.listen();
          if (left.size > 0) this.resync(left);
          for (const subscription of this.numbering.all())
            if (subscription.told !== undefined) this.ports.onBehind(subscription);
        },
        onFault,
      },
      point,
      broken,
    );
    this.resumption = resumption;
    this.cursor.begin(point.tokenlessShard, resumption.cursors);
    this.sendTogether(() => {
      resumption.begin();
    });
  }

  onEvents(shard: number, events: readonly FeedEvent[]): void {
    this.sendTogether(() => {
      // Events not sent here are in the snapshots sent instead, because the feed has applied the whole batch.
      const inDelivery = { events, next: 0 };
      this.inDelivery = inDelivery;
      for (const event of events) {
        if (!this.numbering.send(shard, event)) break;
        inDelivery.next += 1;
      }
      inDelivery.next = events.length;
      this.cursor.leave();
    });
  }

  /**
   * Whether snapshots could not replace what is dropped (the events of these auctions and all unsent events),
   * because one of the auctions is over.
   */
  wouldLose(auctions: Iterable<string>): boolean {
    for (const id of auctions) if (this.isOver(id)) return true;
    for (const { told, auctionId = '' } of this.numbering.all())
      if (told !== undefined && this.isOver(auctionId)) return true;
    const { events, next } = this.inDelivery;
    for (const { auctionId } of events.slice(next)) if (this.wouldBeMissed(auctionId)) return true;
    for (const id of this.resumption?.untold() ?? [])
      if (id === undefined || this.wouldBeMissed(id)) return true;
    return false;
  }

  /** Too much was waiting. Messages that have not left are dropped, and the present state is sent instead. */
  sendStateInstead(dropped: ReadonlyMap<Subscription, number>): void {
    this.numbering.takeBack(dropped);
    this.keepUpWithFeed();
    const all = this.numbering.all();
    if (all.length > 0) this.resync(new Map(all.map((subscription) => [subscription, 'SLOW_READER'])));
  }

  /** Sends a snapshot of the present; later events follow. */
  resync(reasons: Reasons): void {
    // All of them before anything is sent, so that no token covers what was taken back.
    for (const subscription of reasons.keys()) {
      subscription.isComplete = false;
      subscription.told = undefined;
    }
    // If a client gets the resync but not the snapshot, its token shows that, wherever it resumes.
    this.numbering.beat();
    const { round } = this;
    for (const [subscription, reason] of reasons) {
      if (this.round !== round || this.isStopped) return;
      this.ports.onResync(reason);
      this.numbering.sendResync(subscription, reason);
      const viewerStates = this.viewerStatesOf(subscription);
      if (viewerStates === undefined) this.ports.onNotHere(subscription);
      else this.begin(subscription, viewerStates);
    }
  }

  /** Sends nothing from now on. */
  stop(): void {
    this.isStopped = true;
    this.resumption?.stop();
    this.resumption = undefined;
    this.waitingForLive = [];
    this.stopListening();
  }

  private listen(): void {
    if (this.isStopped || this.size === 0) return;
    this.unlisten ??= this.ports.feed.listen(this.name.account, this);
  }

  private stopListening(): void {
    this.unlisten?.();
    this.unlisten = undefined;
  }

  private keepUpWithFeed(): void {
    this.resumption?.stop();
    this.resumption = undefined;
    this.cursor.keepUpWithFeed();
    for (const resolve of this.waitingForLive.splice(0)) resolve();
  }

  private sendTogether(send: () => void): void {
    try {
      this.ports.outbox.together(send);
    } catch (error) {
      this.ports.onFault(error);
    }
  }

  private wouldBeMissed(auctionId: string): boolean {
    return this.numbering.hears(auctionId) && this.isOver(auctionId);
  }

  /** An auction that the feed has forgotten is over for every account. */
  private isOver(auctionId: string): boolean {
    const viewerState = this.ports.feed.find(auctionId, this.name.account);
    return viewerState === undefined || isOverFor(viewerState.state, viewerState.viewer);
  }

  private viewerStatesOf({ auctionId, isOver }: Subscription): readonly ViewerState[] | undefined {
    const { feed } = this.ports;
    if (auctionId === undefined) return feed.live(this.name.account);
    // The client has the end already; the feed may not have read it yet.
    if (isOver) return undefined;
    const viewerState = feed.find(auctionId, this.name.account);
    return viewerState === undefined ? undefined : [viewerState];
  }
}
