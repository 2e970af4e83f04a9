import { instantFromNanos, NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { Outbox } from '#libs/socket/outbox.js';
import type { ResumeTokens } from '#libs/socket/resume-token.js';
import type { OrderState } from '../rules/order.js';
import { orderRecord, printTime } from '../rules/record.js';
import type { VenueId } from '../rules/venues.js';
import type { SocketPoint, OrderMark } from './resume-point.js';
import {
  channelMessage,
  message,
  type SocketResyncReason,
  type OrderSubscriptionName,
} from './server-messages.js';
import type { SocketLimits } from './socket-limits.js';
import type { ToldChange } from './told.js';
import type { UserFold } from './user-fold.js';

/** One subscription of a connection. `seq` counts its messages without gaps, also across reconnects. */
export interface OrderSubscription {
  readonly id: string;
  readonly number: number;
  /** Undefined for all venues. */
  readonly venues: readonly VenueId[] | undefined;
  /** `NEW` until its snapshot is being sent, `CATCHING_UP` while it gets the events it missed. */
  phase: 'NEW' | 'CATCHING_UP' | 'LIVE';
  /** All events up to this position of the cell's journal were sent. */
  position: number;
  seq: number;
  /** The client has everything up to this `seq`. */
  held: number;
}

export type SeenSeqs = Readonly<Record<string, number>>;

export interface OrderSubscriptionsPorts {
  readonly outbox: Outbox<OrderSubscription>;
  readonly tokens: ResumeTokens<SocketPoint>;
  readonly clock: Clock;
  readonly limits: SocketLimits;
  readonly account: string;
  readonly connectionId: string;
  readonly attachment: number;
  /** The venues whose events are withheld. */
  readonly denied: () => ReadonlySet<VenueId>;
  readonly onResync: (reason: SocketResyncReason) => void;
}

/** Marks messages that no later state of an order can replace: a fill, or an order that has ended. */
const IRREPLACEABLE = '';
/** The assumed size of a row that is not rendered yet. Its state usually belongs to the fold anyway. */
const UNRENDERED_BYTES = 64;

/** The subscriptions of one connection. Numbers their messages, sends them, and adds resume tokens. */
export class OrderSubscriptions {
  private readonly all = new Map<string, OrderSubscription>();
  private nextNumber = 1;
  /** Increases when everything is resent. A send that was under way is then void. */
  private round = 0;
  private inDelivery: ToldChange | undefined;
  private sinceToken = 0;
  private tokenAt = 0n;

  constructor(
    private readonly ports: OrderSubscriptionsPorts,
    private readonly foldNow: () => UserFold | undefined,
  ) {}

  get size(): number {
    return this.all.size;
  }

  get names(): OrderSubscriptionName[] {
    return this.list().map(({ id, venues }) => ({
      subscription_id: id,
      channel: 'orders',
      ...(venues === undefined ? {} : { exchange_ids: venues }),
    }));
  }

  list(): OrderSubscription[] {
    return [...this.all.values()];
  }

  has(subscription: OrderSubscription): boolean {
    return this.all.get(subscription.id) === subscription;
  }

  add(venues: readonly VenueId[] | undefined): OrderSubscription {
    const number = this.nextNumber;
    this.nextNumber += 1;
    const subscription: OrderSubscription = {
      ...{ id: idOf(number), number, venues },
      ...{ phase: 'NEW', position: 0, seq: 0, held: 0 },
    };
    this.all.set(subscription.id, subscription);
    return subscription;
  }

  remove(id: string): boolean {
    return this.all.delete(id);
  }

  /** Takes over the subscriptions of a token. Sends nothing yet. */
  restore({ nextNumber, subscriptions }: SocketPoint, seen: SeenSeqs): void {
    this.nextNumber = nextNumber;
    for (const { number, venues, position, seq, isComplete } of subscriptions) {
      const id = idOf(number);
      const held = Math.max(seq, seen[id] ?? 0);
      const phase = isComplete ? 'CATCHING_UP' : 'NEW';
      this.all.set(id, { id, number, venues, phase, position, seq, held });
    }
  }

  covers({ venues }: OrderSubscription, venue: VenueId): boolean {
    return venues?.includes(venue) ?? true;
  }

  /** Sends one event to the subscriptions in this phase that have not had it. */
  tell(told: ToldChange, phase: 'CATCHING_UP' | 'LIVE'): void {
    const { round } = this;
    this.inDelivery = told;
    for (const subscription of this.list()) {
      if (subscription.phase !== phase || told.position <= subscription.position) continue;
      this.sendTo(subscription, told);
      if (this.round !== round) return;
    }
    this.inDelivery = undefined;
  }

  /** The subscription is up to date and gets live events from now on. A higher `seen` from the client is ignored. */
  goLive(subscription: OrderSubscription, position: number): void {
    subscription.phase = 'LIVE';
    subscription.position = position;
    subscription.held = subscription.seq;
  }

  /** Sends the live orders. From now on the subscription gets live events. */
  sendSnapshot(subscription: OrderSubscription, fold: UserFold): void {
    const { round } = this;
    const { outbox, limits } = this.ports;
    const states = fold.live().filter(({ terms }) => this.isShown(subscription, terms.venue));
    subscription.seq = Math.max(subscription.seq, subscription.held);
    const parts = Math.max(1, Math.ceil(states.length / limits.snapshotPart));
    for (let part = 0; part < parts; part += 1) {
      if (this.round !== round) return;
      const isLast = part === parts - 1;
      if (isLast) this.goLive(subscription, fold.position);
      const shown = states.slice(part * limits.snapshotPart, (part + 1) * limits.snapshotPart);
      const { id, seq } = subscription;
      const point = this.point();
      outbox.sendState({
        size: shown.length * UNRENDERED_BYTES,
        render: () => channelMessage('snapshot', id, seq, snapshotMembers(shown, !isLast), this.seal(point)),
      });
    }
  }

  /** Tells the client that the stream is interrupted. A snapshot must follow. */
  sendResync(subscriptions: readonly OrderSubscription[], reason: SocketResyncReason): void {
    // All are changed before anything is sent, because no token may cover messages that were taken back.
    for (const subscription of subscriptions) {
      subscription.seq = Math.max(subscription.seq, subscription.held);
      subscription.phase = 'NEW';
    }
    this.beat();
    for (const { id } of subscriptions) {
      this.ports.onResync(reason);
      this.ports.outbox.sendState(message('resync', { subscription_id: id, reason }));
    }
  }

  /** Sends a heartbeat. Its token is dropped together with the messages before it, if those are dropped. */
  beat(): void {
    const server_time = printTime(instantFromNanos(this.ports.clock.epochNanos()));
    this.ports.outbox.sendState(message('heartbeat', { server_time, resume_token: this.token() }));
  }

  /** Unsent messages count as never sent. All subscriptions must be resent. */
  takeBack(dropped: ReadonlyMap<OrderSubscription, number>): void {
    this.round += 1;
    this.inDelivery = undefined;
    for (const [subscription, messages] of dropped) {
      subscription.seq -= messages;
      subscription.held = subscription.seq;
    }
  }

  /** Whether a snapshot could not replace the dropped messages and those still to be sent. */
  wouldLose(subjects: ReadonlySet<string>): boolean {
    if (this.list().some(({ phase }) => phase === 'CATCHING_UP')) return true;
    const fold = this.foldNow();
    const isLost = (order: string | undefined): boolean =>
      order === undefined || order === IRREPLACEABLE || fold?.isLive(order) !== true;
    return (
      [...subjects].some(isLost) || (this.inDelivery?.parts ?? []).some((part) => isLost(part.superseded))
    );
  }

  private isShown(subscription: OrderSubscription, venue: VenueId): boolean {
    return this.covers(subscription, venue) && !this.ports.denied().has(venue);
  }

  private sendTo(subscription: OrderSubscription, { position, parts }: ToldChange): void {
    const { round } = this;
    const wanted = parts.filter(({ venue }) => this.isShown(subscription, venue));
    for (const [index, { type, members, superseded = IRREPLACEABLE }] of wanted.entries()) {
      const isLast = index === wanted.length - 1;
      subscription.seq += 1;
      // A token must cover whole events only.
      if (isLast) subscription.position = position;
      if (subscription.seq <= subscription.held) continue;
      const token = this.isDue() && isLast ? this.token() : undefined;
      const text = channelMessage(type, subscription.id, subscription.seq, members, token);
      this.ports.outbox.sendEvent(subscription, superseded, text);
      if (this.round !== round) return;
    }
    subscription.position = position;
  }

  private isDue(): boolean {
    const { clock, limits } = this.ports;
    this.sinceToken += 1;
    const age = clock.monotonicNanos() - this.tokenAt;
    return this.sinceToken >= limits.tokenEvents || age >= BigInt(limits.tokenMillis) * NANOS_PER_MILLI;
  }

  /** A resume token for the present state of the whole connection. */
  private token(): string {
    this.sinceToken = 0;
    this.tokenAt = this.ports.clock.monotonicNanos();
    return this.seal(this.point());
  }

  private point(): SocketPoint {
    const now = this.inDelivery === undefined ? (this.foldNow()?.position ?? 0) : 0;
    return {
      connectionId: this.ports.connectionId,
      attachment: this.ports.attachment,
      nextNumber: this.nextNumber,
      denied: [...this.ports.denied()],
      subscriptions: this.list().map((subscription) => positionOf(subscription, now)),
    };
  }

  private seal(point: SocketPoint): string {
    const { tokens, account, clock } = this.ports;
    return tokens.seal(point, account, Number(clock.epochNanos() / NANOS_PER_MILLI));
  }
}

function idOf(number: number): string {
  return `s${number}`;
}

/** `now` is the fold's position if no event is being sent. */
function positionOf({ number, venues, phase, position, seq }: OrderSubscription, now: number): OrderMark {
  const reached = phase === 'LIVE' ? Math.max(position, now) : position;
  return { number, venues, position: reached, seq, isComplete: phase !== 'NEW' };
}

function snapshotMembers(states: readonly OrderState[], more: boolean): string {
  const orders = states.map((state) => JSON.stringify(orderRecord(state, 'row')));
  return `"orders":[${orders.join(',')}],"more":${more}`;
}
