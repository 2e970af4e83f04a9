import type { NumberedEntry } from '../../rules/told/timeline-entry.js';
import { viewVersion } from '../../rules/told/view.js';
import { pause } from '#libs/platform/time/clock.js';
import {
  type BucketRule,
  type BucketState,
  fullBucket,
  perSecond,
  take,
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
import { SubscriptionTable } from '../subscriptions/subscription-table.js';
import { CLOSE } from '#libs/socket/socket.js';
import type { RunRequest, StreamConnection, StreamPorts } from './stream-ports.js';

interface SubscribeRequest {
  readonly cmdId: string;
  readonly auctionId: string;
  readonly afterSeq: number | undefined;
}

/** An auction may be about to arrive in the feed, or have just left it, so it is looked up this many times. */
const TRIES = 3;
const PACE_MILLIS = 20;

/** Subscribes and unsubscribes: finds the state to show, wherever it is, and starts with it. */
export class SubscriptionHandler {
  readonly table: SubscriptionTable;
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
    this.table = this.openTable(name);
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
    if (!this.table.remove(id)) {
      this.connection.send(reject(cmdId, NO_SUBSCRIPTION));
      return;
    }
    this.connection.send(message('unsubscribed', { cmd_id: cmdId, subscription_id: id }));
    // Otherwise the client's earlier tokens would bring it back.
    this.table.beat();
  }

  /** Requests beyond the rate are answered later, in order: a snapshot costs more than the request for it. */
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
    await this.table.live();
    const subscription = this.enter(cmdId, undefined);
    if (subscription !== undefined) this.table.begin(subscription, this.ports.feed.live(this.table.account));
  }

  private async toOne(request: SubscribeRequest): Promise<void> {
    const { archive, feed, limits } = this.ports;
    const { cmdId, auctionId, afterSeq } = request;
    const missed =
      afterSeq === undefined
        ? { entries: [] }
        : await archive.events(this.table.account, auctionId, afterSeq, limits.timelinePage);
    await this.table.live();
    if ('error' in missed) {
      this.connection.send(reject(cmdId, missed));
      return;
    }
    for (let tries = 0; tries < TRIES; tries += 1) {
      // No await between this look-up and the start: the feed would move on without the subscription.
      const viewerState = feed.find(auctionId, this.table.account);
      if (viewerState !== undefined) {
        this.beginHere(request, viewerState, missed.entries);
        return;
      }
      const found = await this.findElsewhere(auctionId);
      if (found === 'COMING') continue;
      if ('error' in found) this.connection.send(reject(cmdId, found));
      else this.beginEnded(request, found.view, missed.entries);
      return;
    }
    this.connection.send(reject(cmdId, NOT_HERE_YET));
  }

  /** For an auction that is not in the feed's memory: it is over, or too new for the feed. */
  private async findElsewhere(auctionId: string): Promise<{ readonly view: string } | 'COMING' | Refused> {
    const { archive, feed, limits } = this.ports;
    const found = await archive.view(this.table.account, auctionId);
    if ('error' in found) return found;
    if (found.isOver) return { view: found.text };
    const isHere = (): boolean => feed.find(auctionId, this.table.account) !== undefined;
    return (await feed.waitUntil(isHere, limits.catchUpMillis)) ? 'COMING' : NOT_HERE_YET;
  }

  private beginHere(
    request: SubscribeRequest,
    viewerState: ViewerState,
    missed: readonly NumberedEntry[],
  ): void {
    const { cmdId, auctionId, afterSeq } = request;
    const subscription = this.enter(cmdId, auctionId, afterSeq);
    if (subscription === undefined) return;
    if (afterSeq === undefined || afterSeq >= viewVersion(viewerState.state, viewerState.viewer)) {
      this.table.begin(subscription, [viewerState]);
      return;
    }
    this.table.beginBehind(subscription, viewerState);
    this.catchUp(subscription, missed);
  }

  private beginEnded(
    { cmdId, auctionId, afterSeq }: SubscribeRequest,
    view: string,
    missed: readonly NumberedEntry[],
  ): void {
    const subscription = this.enter(cmdId, auctionId, afterSeq);
    if (subscription === undefined) return;
    this.table.showEnded(subscription, view);
    if (afterSeq !== undefined) this.catchUp(subscription, missed);
  }

  /**
   * Sends what the client missed before the subscription. `missed` are the first of these entries, if they were
   * read already.
   */
  private catchUp(subscription: Subscription, missed: readonly NumberedEntry[] = []): void {
    const { feed, archive, clock, limits } = this.ports;
    const ports = { feed, archive, clock, outbox: this.connection.outbox, pageSize: limits.timelinePage };
    new CatchUp(ports, this.table, subscription).run(missed).catch((error: unknown) => {
      this.connection.fail(error);
    });
  }

  private openTable(name: ConnectionName): SubscriptionTable {
    const { feed, tokens, clock, limits, meter } = this.ports;
    const { outbox } = this.connection;
    return new SubscriptionTable(
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

  /** For an auction that ended so long ago that the feed has forgotten it. */
  private async showFromArchive(subscription: Subscription): Promise<void> {
    const { table, ports, connection } = this;
    const { round } = table;
    const auctionId = subscription.auctionId ?? '';
    const found = await ports.archive.view(table.account, auctionId);
    if (connection.isEnded || !table.has(subscription) || table.round !== round) return;
    const viewerState = subscription.isOver ? undefined : ports.feed.find(auctionId, table.account);
    if (viewerState !== undefined) table.begin(subscription, [viewerState]);
    else if ('error' in found) connection.close(CLOSE.draining, 'cannot go on here');
    else table.showEnded(subscription, found.text);
  }

  /**
   * Undefined if the limit is reached, or if the reply itself overflowed the buffer, which already sent the present
   * state.
   */
  private enter(cmdId: string, auctionId: string | undefined, told?: number): Subscription | undefined {
    if (this.connection.isEnded) return undefined;
    if (this.isFull()) {
      this.connection.send(reject(cmdId, TOO_MANY_SUBSCRIPTIONS));
      return undefined;
    }
    const { round } = this.table;
    const subscription = this.table.add(auctionId === undefined ? 'auctions' : 'auction', auctionId, told);
    this.connection.send(message('subscribed', { cmd_id: cmdId, subscription_id: subscription.id }));
    return this.table.round === round ? subscription : undefined;
  }

  private isFull(): boolean {
    return this.table.size >= this.ports.limits.subscriptions;
  }
}
