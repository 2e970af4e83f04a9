import type { VenueId } from '../../rules/venues.js';
import { MissedChanges } from '../missed-changes.js';
import {
  CELL_AWAY,
  errorMessage,
  INVALID_SCOPE,
  invalid,
  message,
  TOO_MANY,
  type FrameRefusal,
  type SocketResyncReason,
} from '../server-messages.js';
import { OrderSubscriptions, type OrderSubscription } from '../subscriptions.js';
import type { ToldChange } from '../told.js';
import type { FoldListener, UserFold } from '../user-fold.js';
import { CellAway, type HeldFold } from '../user-folds.js';
import type { SocketGreeting } from './greeting.js';
import { ProviderWatch, type AccessChange } from './provider-watch.js';
import type { SocketConnection, SocketPorts } from './socket-ports.js';

/** The subscriptions of one connection: begins, resumes, resyncs and ends them. */
export class SubscriptionKeeper implements FoldListener {
  readonly subscriptions: OrderSubscriptions;
  private readonly providers: ProviderWatch;
  private held: HeldFold | undefined;
  private unlisten: () => void = () => undefined;

  constructor(
    private readonly ports: SocketPorts,
    private readonly connection: SocketConnection,
    private readonly greeting: SocketGreeting,
  ) {
    this.providers = new ProviderWatch(ports.access, ports.venues, () => connection.guard.principal);
    const { tokens, clock, limits, meter } = ports;
    this.subscriptions = new OrderSubscriptions(
      {
        ...{ tokens, clock, limits, outbox: connection.outbox, account: connection.account },
        connectionId: greeting.connectionId,
        attachment: greeting.attachment,
        denied: this.providers.denied,
        onResync: (reason) => {
          meter.resynced(reason);
        },
      },
      () => this.held?.fold,
    );
    const { resumed } = greeting;
    if (resumed === undefined) return;
    this.subscriptions.restore(resumed.point, resumed.seen);
    if (resumed.held !== undefined) this.follow(resumed.held);
  }

  /** Called after the welcome. Reports withheld venues, and continues the resumed subscriptions. */
  begin(): void {
    for (const change of this.providers.unusual()) this.sendAccess(change);
    const { resumed } = this.greeting;
    const { held } = this;
    if (resumed === undefined || held === undefined) return;
    this.guarded(() => {
      const denied = this.providers.denied();
      const isChanged = (venue: VenueId): boolean =>
        denied.has(venue) !== resumed.point.denied.includes(venue);
      const changed = this.ports.venues.filter(isChanged);
      const all = this.subscriptions.list();
      const incomplete = all.filter(({ phase }) => phase === 'NEW');
      const moved = all.filter((one) => changed.some((venue) => this.subscriptions.covers(one, venue)));
      this.resync(incomplete, 'SNAPSHOT_INCOMPLETE');
      this.resync(
        moved.filter((one) => !incomplete.includes(one)),
        'PROVIDER_ACCESS',
      );
    });
    void this.catchUp(held.fold).catch((error: unknown) => {
      this.connection.fail(error);
    });
  }

  async subscribe(reqId: string, venues: readonly VenueId[] | undefined): Promise<void> {
    const { connection, subscriptions } = this;
    if (!connection.guard.principal.scopes.has('trade:read')) {
      this.refuse(reqId, INVALID_SCOPE);
      return;
    }
    const fold = await this.foldNow();
    if (connection.isEnded) return;
    if (fold === undefined) this.refuse(reqId, CELL_AWAY);
    else if (subscriptions.size >= this.ports.limits.subscriptions) this.refuse(reqId, TOO_MANY);
    else {
      const subscription = subscriptions.add(venues);
      connection.send(message('subscribed', { req_id: reqId, subscription_id: subscription.id }));
      this.guarded(() => {
        subscriptions.sendSnapshot(subscription, fold);
      });
    }
  }

  unsubscribe(reqId: string, id: string): void {
    if (!this.subscriptions.remove(id)) {
      this.refuse(reqId, invalid('subscription_id', 'There is no such subscription.'));
      return;
    }
    this.connection.send(message('unsubscribed', { req_id: reqId, subscription_id: id }));
    // Otherwise the client's earlier tokens would bring it back.
    this.subscriptions.beat();
  }

  onTold(told: ToldChange): void {
    this.guarded(() => {
      this.subscriptions.tell(told, 'LIVE');
    });
  }

  onBroken(): void {
    this.release();
    void this.restart().catch((error: unknown) => {
      this.connection.fail(error);
    });
  }

  /** Too many messages were waiting. Unsent ones are dropped, and the present state is sent instead. */
  sendStateInstead(dropped: ReadonlyMap<OrderSubscription, number>): void {
    this.subscriptions.takeBack(dropped);
    this.resync(this.subscriptions.list(), 'SLOW_READER');
  }

  lookAtAccess(): void {
    for (const change of this.providers.look()) {
      this.sendAccess(change);
      if (change.enabled !== true) continue;
      const affected = this.subscriptions
        .list()
        .filter((one) => this.subscriptions.covers(one, change.venue));
      this.guarded(() => {
        this.resync(affected, 'PROVIDER_ACCESS');
      });
    }
  }

  end(): void {
    this.release();
  }

  private refuse(reqId: string, { status, body }: FrameRefusal): void {
    this.connection.send(errorMessage(reqId, status, body));
  }

  private sendAccess({ venue, enabled }: AccessChange): void {
    this.connection.send(message('provider_access', { exchange_id: venue, enabled }));
    // Earlier tokens assume the former access.
    this.subscriptions.beat();
  }

  /** Undefined if the cell does not answer. Includes everything durable at the call. */
  private async foldNow(): Promise<UserFold | undefined> {
    try {
      const held = await this.ports.folds.acquire(this.connection.account);
      if (this.held?.fold === held.fold || this.connection.isEnded) held.release();
      else this.follow(held);
      return held.fold;
    } catch (error) {
      if (error instanceof CellAway) return undefined;
      throw error;
    }
  }

  private follow(held: HeldFold): void {
    this.release();
    this.held = held;
    this.unlisten = held.fold.listen(this);
  }

  private release(): void {
    this.unlisten();
    this.held?.release();
    this.held = undefined;
  }

  private async restart(): Promise<void> {
    if (this.subscriptions.size === 0 || this.connection.isEnded) return;
    const fold = await this.foldNow();
    if (fold === undefined) throw new CellAway('the orders are not known any more');
    this.guarded(() => {
      this.resync(this.subscriptions.list(), 'HISTORY_GONE');
    });
  }

  private async catchUp(fold: UserFold): Promise<void> {
    const { connection, subscriptions, ports } = this;
    const isStopped = (): boolean => connection.isEnded || this.held?.fold !== fold;
    const { events, clock, limits } = ports;
    const own = { outbox: connection.outbox, subscriptions, fold, isStopped };
    if (await new MissedChanges({ ...own, events, clock, limits }).run()) return;
    this.guarded(() => {
      const catchingUp = subscriptions.list().filter(({ phase }) => phase === 'CATCHING_UP');
      this.resync(catchingUp, 'HISTORY_GONE');
    });
  }

  /** Sends snapshots of the present state. Live events follow. */
  private resync(subscriptions: readonly OrderSubscription[], reason: SocketResyncReason): void {
    const fold = this.held?.fold;
    if (subscriptions.length === 0 || fold === undefined) return;
    this.subscriptions.sendResync(subscriptions, reason);
    for (const subscription of subscriptions) {
      if (this.subscriptions.has(subscription)) this.subscriptions.sendSnapshot(subscription, fold);
    }
  }

  private guarded(tell: () => void): void {
    try {
      this.connection.outbox.together(tell);
    } catch (error) {
      this.connection.fail(error);
    }
  }
}
