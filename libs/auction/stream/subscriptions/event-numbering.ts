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

/** The assumed size of a view that is not rendered yet. Its state is shared with the feed. */
const UNRENDERED_BYTES = 64;

/**
 * Numbers and sends the events of one connection's subscriptions, and adds the resume tokens. A subscription gets
 * events only once its snapshot, and all that belongs before it, was sent.
 */
export class EventNumbering {
  private readonly subscriptions = new Map<string, Subscription>();
  private nextNumber = 1;
  /** Changes when all subscriptions are sent again. Anything begun in an earlier round is then obsolete. */
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

  /** `told`: the last entry of the auction's timeline that the client knows. It is sent the entries after that. */
  add(channel: Channel, auctionId: string | undefined, told?: number): Subscription {
    const subscription = newSubscription(this.nextNumber, channel, auctionId, told);
    this.nextNumber += 1;
    this.subscriptions.set(subscription.id, subscription);
    return subscription;
  }

  /**
   * Messages on their way to it still arrive, because a token on one of its events also holds for other
   * subscriptions.
   */
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

  /** Messages that have not left count as never sent. All subscriptions must be sent again. */
  takeBack(dropped: ReadonlyMap<Subscription, number>): void {
    this.round += 1;
    for (const [subscription, events] of dropped) subscription.seq -= events;
  }

  /** False if everything was sent again, including this event. */
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

  /** Everything of the position in delivery was sent. */
  leave(): void {
    this.cursor.leave();
  }

  sendResync(subscription: Subscription, reason: ResyncReason): void {
    subscription.seq = Math.max(subscription.seq, subscription.skip);
    this.outbox.sendState(message('resync', { subscription_id: subscription.id, reason }));
  }

  /** The last part makes the subscription complete, unless earlier entries follow. */
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

  /** The view of an auction that is over for the account, as JSON text. No events will follow. */
  sendEnded(subscription: Subscription, view: string): void {
    subscription.isOver = true;
    subscription.isComplete = subscription.told === undefined;
    this.outbox.sendState(snapshotMessage(subscription.id, [view], false, this.laterToken()()));
  }

  /** An earlier entry. The last one makes the subscription complete. */
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

  /** The client's tokens do not show this yet, so the next event carries one. */
  complete(subscription: Subscription): void {
    subscription.isComplete = true;
    subscription.told = undefined;
    this.cursor.forceToken();
  }

  /** A heartbeat. Its token is valid only if nothing before it is taken back, so it is taken back with them. */
  beat(): void {
    const time = instantFromNanos(this.clock.epochNanos());
    this.outbox.sendState(message('heartbeat', { server_time: time, resume_token: this.token() }));
  }

  /** Whether any subscription gets the events of the auction. */
  hears(auctionId: string): boolean {
    return this.all().some((subscription) => isTold(subscription) && concerns(subscription, { auctionId }));
  }

  /** A token of the whole connection in its present state. */
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

  /** Takes the state now, and makes the token when the message is rendered. */
  private laterToken(): () => string {
    const point = this.cursor.point(this.subscriptions.values(), this.nextNumber);
    return () => this.cursor.seal(point);
  }
}

/** The messages of one snapshot. Each takes its token's state now; the view is rendered when it leaves. */
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
