import { instantFromNanos } from '#libs/base/instant.js';
import type { TimelineEntry } from '../../rules/told/timeline-entry.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { membersOf, type FeedEvent } from '../feed/change.js';
import type { ViewerState } from '../feed/feed.js';
import type { Outbox, Part } from '#libs/socket/outbox.js';
import { auctionView } from '../../rules/told/view.js';
import type { Channel, ResumePoint } from '../resume-point.js';
import { eventMessage, message, snapshotMessage, type ResyncReason } from '../server-messages.js';
import type { ResumeCursor } from './resume-cursor.js';
import { concerns, isTold, newSubscription, restored, type Seen, type Subscription } from './subscription.js';

/** What a view costs that is not rendered yet. Its state is the feed's own, or was a moment ago. */
const UNRENDERED_BYTES = 64;

/**
 * Numbers the events of one connection's subscriptions, sends them, and adds the tokens that say how far that is. Only complete
 * subscriptions get events: their snapshot is on its way, with everything that belongs before it.
 */
export class EventNumbering {
  private readonly subscriptions = new Map<string, Subscription>();
  private nextNumber = 1;
  /** Changes when everything is sent anew; then what was being sent before is void. */
  private round = 0;

  constructor(
    private readonly outbox: Outbox<Subscription>,
    private readonly cursor: ResumeCursor,
    private readonly clock: Clock,
    private readonly snapshotPart: number,
  ) {}

  get size(): number {
    return this.subscriptions.size;
  }

  get currentRound(): number {
    return this.round;
  }

  all(): Subscription[] {
    return [...this.subscriptions.values()];
  }

  has(subscription: Subscription): boolean {
    return this.subscriptions.get(subscription.id) === subscription;
  }

  /** `told`: up to which entry its client knows the auction's timeline; it is to be told what came behind that. */
  add(channel: Channel, auctionId: string | undefined, told?: number): Subscription {
    const subscription = newSubscription(this.nextNumber, channel, auctionId, told);
    this.nextNumber += 1;
    this.subscriptions.set(subscription.id, subscription);
    return subscription;
  }

  /** What is on its way to it still arrives: a token on one of its events stands for the others too. */
  remove(id: string): boolean {
    return this.subscriptions.delete(id);
  }

  restore({ nextNumber, subscriptions }: ResumePoint, seen: Seen): void {
    this.nextNumber = nextNumber;
    for (const mark of subscriptions) {
      const subscription = restored(mark, seen);
      this.subscriptions.set(subscription.id, subscription);
    }
  }

  /** What has not left counts as never sent. All have to be sent anew. */
  takeBack(dropped: ReadonlyMap<Subscription, number>): void {
    this.round += 1;
    for (const [subscription, events] of dropped) subscription.seq -= events;
  }

  /** False when everything was sent anew, with this event in it. */
  send(shard: number, event: FeedEvent): boolean {
    const { round } = this;
    if (this.cursor.enter(shard, event.position)) {
      for (const subscription of this.subscriptions.values()) subscription.base = subscription.seq;
    }
    for (const subscription of this.subscriptions.values()) {
      if (!isTold(subscription) || !concerns(subscription, event)) continue;
      this.sendOne(subscription, shard, event);
      if (this.round !== round) return false;
    }
    return true;
  }

  /** All of the position in delivery was sent. */
  leave(): void {
    this.cursor.leave();
  }

  sendResync(subscription: Subscription, reason: ResyncReason): void {
    subscription.seq = Math.max(subscription.seq, subscription.skip);
    this.outbox.sendState(message('resync', { subscription_id: subscription.id, reason }));
  }

  /** With its last part the subscription is complete, unless it will be told what was missed before. */
  sendSnapshot(subscription: Subscription, viewerStates: readonly ViewerState[], isComplete: boolean): void {
    const { round } = this;
    subscription.isOver = false;
    if (isComplete) subscription.told = undefined;
    const parts = snapshotParts(subscription.id, viewerStates, this.snapshotPart, (isLast) => {
      subscription.isComplete = isLast && isComplete;
      return this.laterToken();
    });
    for (const part of parts) if (this.round === round) this.outbox.sendState(part);
  }

  /** The view of an auction that is over for the account, as JSON text; nothing more will happen to it. */
  sendEnded(subscription: Subscription, view: string): void {
    subscription.isOver = true;
    subscription.isComplete = subscription.told === undefined;
    this.outbox.sendState(snapshotMessage(subscription.id, [view], false, this.laterToken()()));
  }

  /** An entry of before; with the last one the subscription is complete. */
  sendMissed(subscription: Subscription, timelineSeq: number, entry: TimelineEntry, isLast: boolean): void {
    subscription.seq += 1;
    subscription.told = timelineSeq;
    if (isLast) this.complete(subscription);
    const members = membersOf(subscription.auctionId ?? '', timelineSeq, entry);
    const isLate = this.cursor.isLate(this.clock.monotonicNanos());
    const token = isLast || isLate ? this.token() : undefined;
    const { id, seq, auctionId = '' } = subscription;
    this.outbox.sendEvent(subscription, auctionId, eventMessage(id, seq, members, token));
  }

  /** The tokens that the client has do not know it yet, so the next event brings one. */
  complete(subscription: Subscription): void {
    subscription.isComplete = true;
    subscription.told = undefined;
    this.cursor.forceToken();
  }

  /** A heartbeat. Its token holds only as long as nothing before it is taken back, so it goes with what is. */
  beat(): void {
    const time = instantFromNanos(this.clock.epochNanos());
    this.outbox.sendState(message('heartbeat', { server_time: time, resume_token: this.token() }));
  }

  /** Whether any subscription is told what happens to the auction. */
  hears(auctionId: string): boolean {
    return this.all().some((subscription) => isTold(subscription) && concerns(subscription, { auctionId }));
  }

  /** Stands for the whole connection as it is now. */
  private token(): string {
    return this.cursor.token(this.subscriptions.values(), this.nextNumber);
  }

  private sendOne(subscription: Subscription, shard: number, event: FeedEvent): void {
    subscription.seq += 1;
    if (subscription.seq <= subscription.skip) return;
    const isDue = this.cursor.isDue(shard, this.clock.monotonicNanos());
    const { id, seq } = subscription;
    const token = isDue ? this.token() : undefined;
    this.outbox.sendEvent(subscription, event.auctionId, eventMessage(id, seq, event.members, token));
  }

  /** Says what is so now, when it is rendered. */
  private laterToken(): () => string {
    const point = this.cursor.point(this.subscriptions.values(), this.nextNumber);
    return () => this.cursor.seal(point);
  }
}

/** The messages of one snapshot. Each learns its token at once; the rest is rendered when it leaves. */
function snapshotParts(
  subscriptionId: string,
  viewerStates: readonly ViewerState[],
  partSize: number,
  tokenOf: (isLast: boolean) => () => string,
): Part[] {
  const parts = Math.max(1, Math.ceil(viewerStates.length / partSize));
  return Array.from({ length: parts }, (_, index) => {
    const shown = viewerStates.slice(index * partSize, (index + 1) * partSize);
    const isLast = index === parts - 1;
    const token = tokenOf(isLast);
    return {
      size: shown.length * UNRENDERED_BYTES,
      render: () => snapshotMessage(subscriptionId, shown.map(viewOf), !isLast, token()),
    };
  });
}

function viewOf({ state, viewer }: ViewerState): string {
  return JSON.stringify(auctionView(state, viewer));
}
