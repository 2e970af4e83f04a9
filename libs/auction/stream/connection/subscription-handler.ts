import type { NumberedEntry } from '../../rules/told/timeline-entry.js';
import { viewVersion } from '../../rules/told/view-version.js';
import { pause } from '#libs/platform/time/clock.js';
import {
  fullBucket,
  perSecond,
  take,
  type BucketRule,
  type BucketState,
} from '#libs/platform/time/token-bucket.js';
import type { Control } from '../client-messages.js';
import type { ViewerState } from '../feed/feed.js';
import type { Refused } from '../ports.js';
import {
  message,
  NO_SUBSCRIPTION,
  NOT_HERE_YET,
  reject,
  TOO_MANY_SUBSCRIPTIONS,
} from '../server-messages.js';
import { CatchUp } from '../subscriptions/catch-up.js';
import type { Subscription } from '../subscriptions/subscription.js';
import type { ConnectionName } from '../subscriptions/resume-cursor.js';
import { SubscriptionBook } from '../subscriptions/subscription-book.js';
import { CLOSE } from '#libs/socket/socket.js';
import type { RunRequest, StreamConnection, StreamPorts } from './stream-ports.js';

interface Wish {
  readonly cmdId: string;
  readonly auctionId: string;
  readonly afterSeq: number | undefined;
}

/** An auction is on its way here, or has just gone: so often it is looked for anew. */
const TRIES = 3;
const PACE_MILLIS = 20;

/** Subscribing and unsubscribing: finds what is to be shown, wherever it is, and begins with it. */
export class SubscriptionHandler {
  readonly book: SubscriptionBook;
  private readonly rule: BucketRule;
  private bucket: BucketState;
  private waiting = 0;
  private turns = Promise.resolve();

  constructor(
    private readonly ports: StreamPorts,
    private readonly connection: StreamConnection,
    name: ConnectionName,
    private readonly run: RunRequest,
  ) {
    const { clock, limits } = ports;
    this.book = this.openBook(name);
    this.rule = perSecond(limits.subscribesPerSecond, limits.subscribesPerSecond);
    this.bucket = fullBucket(this.rule, clock.monotonicNanos());
  }

  subscribe(cmdId: string, { auction_id: auctionId, after_seq: afterSeq }: Control<'subscribe'>): void {
    this.run(cmdId, async () => {
      if (this.waiting > 0 || (!this.isFull() && !this.isTurn())) await this.turn();
      if (this.isFull()) this.connection.send(reject(cmdId, TOO_MANY_SUBSCRIPTIONS));
      else if (auctionId === undefined) await this.toAll(cmdId);
      else await this.toOne({ cmdId, auctionId, afterSeq });
    });
  }

  unsubscribe(cmdId: string, id: string): void {
    if (!this.book.remove(id)) {
      this.connection.send(reject(cmdId, NO_SUBSCRIPTION));
      return;
    }
    this.connection.send(message('unsubscribed', { cmd_id: cmdId, subscription_id: id }));
    // The tokens of before would bring it back.
    this.book.beat();
  }

  /** What comes faster is answered later, in order: a snapshot costs more than the asking for it. */
  private async turn(): Promise<void> {
    this.waiting += 1;
    this.turns = this.turns.then(() => this.pace());
    await this.turns;
    this.waiting -= 1;
  }

  private async pace(): Promise<void> {
    while (!this.connection.isEnded && !this.isFull() && !this.isTurn()) {
      await pause(this.ports.clock, PACE_MILLIS);
    }
  }

  private isTurn(): boolean {
    const { state, taken } = take(this.rule, this.bucket, 1, this.ports.clock.monotonicNanos());
    this.bucket = state;
    return taken;
  }

  private async toAll(cmdId: string): Promise<void> {
    await this.book.live();
    const subscription = this.enter(cmdId, undefined);
    if (subscription !== undefined) this.book.begin(subscription, this.ports.feed.live(this.book.account));
  }

  private async toOne(wish: Wish): Promise<void> {
    const { archive, feed, limits } = this.ports;
    const { cmdId, auctionId, afterSeq } = wish;
    const missed =
      afterSeq === undefined
        ? { entries: [] }
        : await archive.events(this.book.account, auctionId, afterSeq, limits.timelinePage);
    await this.book.live();
    if ('error' in missed) {
      this.connection.send(reject(cmdId, missed));
      return;
    }
    for (let tries = 0; tries < TRIES; tries += 1) {
      // Between this look and the beginning nothing may be waited for: the feed would go on without the subscription.
      const viewerState = feed.find(auctionId, this.book.account);
      if (viewerState !== undefined) {
        this.beginHere(wish, viewerState, missed.entries);
        return;
      }
      const found = await this.lookElsewhere(auctionId);
      if (found === 'COMING') continue;
      if ('error' in found) this.connection.send(reject(cmdId, found));
      else this.beginEnded(wish, found.view, missed.entries);
      return;
    }
    this.connection.send(reject(cmdId, NOT_HERE_YET));
  }

  /** For what is not in the feed's memory: it is over and done with, or so young that the feed has not come to it. */
  private async lookElsewhere(auctionId: string): Promise<{ readonly view: string } | 'COMING' | Refused> {
    const { archive, feed, limits } = this.ports;
    const found = await archive.view(this.book.account, auctionId);
    if ('error' in found) return found;
    if (found.isOver) return { view: found.text };
    const isHere = (): boolean => feed.find(auctionId, this.book.account) !== undefined;
    return (await feed.waitUntil(isHere, limits.catchUpMillis)) ? 'COMING' : NOT_HERE_YET;
  }

  private beginHere(wish: Wish, viewerState: ViewerState, missed: readonly NumberedEntry[]): void {
    const { cmdId, auctionId, afterSeq } = wish;
    const subscription = this.enter(cmdId, auctionId, afterSeq);
    if (subscription === undefined) return;
    if (afterSeq === undefined || afterSeq >= viewVersion(viewerState.state, viewerState.viewer)) {
      this.book.begin(subscription, [viewerState]);
      return;
    }
    this.book.beginBehind(subscription, viewerState);
    this.catchUp(subscription, missed);
  }

  private beginEnded(
    { cmdId, auctionId, afterSeq }: Wish,
    view: string,
    missed: readonly NumberedEntry[],
  ): void {
    const subscription = this.enter(cmdId, auctionId, afterSeq);
    if (subscription === undefined) return;
    this.book.showEnded(subscription, view);
    if (afterSeq !== undefined) this.catchUp(subscription, missed);
  }

  /** Tells it what its client missed before it, from where that is. `missed` is what comes first, as far as it is known. */
  private catchUp(subscription: Subscription, missed: readonly NumberedEntry[] = []): void {
    const { feed, archive, clock, limits } = this.ports;
    const ports = { feed, archive, clock, outbox: this.connection.outbox, pageSize: limits.timelinePage };
    new CatchUp(ports, this.book, subscription).run(missed).catch((error: unknown) => {
      this.connection.fail(error);
    });
  }

  private openBook(name: ConnectionName): SubscriptionBook {
    const { feed, tokens, clock, limits, meter } = this.ports;
    const { outbox } = this.connection;
    return new SubscriptionBook(
      {
        feed,
        tokens,
        clock,
        limits,
        outbox,
        onResync: (reason) => {
          meter.resynced(reason);
        },
        onNotHere: (subscription) => {
          void this.showFromArchive(subscription).catch((error: unknown) => {
            this.connection.fail(error);
          });
        },
        onBehind: (subscription) => {
          this.catchUp(subscription);
        },
        onFault: (error) => {
          this.connection.fail(error);
        },
      },
      name,
    );
  }

  /** An auction that ended so long ago that the feed has done with it is to be shown anew. */
  private async showFromArchive(subscription: Subscription): Promise<void> {
    const { book, ports, connection } = this;
    const { round } = book;
    const auctionId = subscription.auctionId ?? '';
    const found = await ports.archive.view(book.account, auctionId);
    if (connection.isEnded || !book.has(subscription) || book.round !== round) return;
    const viewerState = subscription.isOver ? undefined : ports.feed.find(auctionId, book.account);
    if (viewerState !== undefined) book.begin(subscription, [viewerState]);
    else if ('error' in found) connection.close(CLOSE.draining, 'cannot go on here');
    else book.showEnded(subscription, found.text);
  }

  /** Undefined when it must not be any more, or has been told the present already: the reply itself was too much. */
  private enter(cmdId: string, auctionId: string | undefined, told?: number): Subscription | undefined {
    if (this.connection.isEnded) return undefined;
    if (this.isFull()) {
      this.connection.send(reject(cmdId, TOO_MANY_SUBSCRIPTIONS));
      return undefined;
    }
    const { round } = this.book;
    const subscription = this.book.add(auctionId === undefined ? 'auctions' : 'auction', auctionId, told);
    this.connection.send(message('subscribed', { cmd_id: cmdId, subscription_id: subscription.id }));
    return this.book.round === round ? subscription : undefined;
  }

  private isFull(): boolean {
    return this.book.size >= this.ports.limits.subscriptions;
  }
}
