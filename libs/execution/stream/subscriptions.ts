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

/** One subscription of a connection. `seq` counts its messages and has no gaps, whatever becomes of the connection. */
export interface OrderSubscription {
  readonly id: string;
  readonly number: number;
  /** Undefined for all. */
  readonly venues: readonly VenueId[] | undefined;
  /** `NEW` until its snapshot is on its way, `BEHIND` while it gets what it missed. */
  phase: 'NEW' | 'BEHIND' | 'LIVE';
  /** Everything up to here in the cell's journal was told. */
  position: number;
  seq: number;
  /** The client holds everything up to this `seq`. */
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

/** What no present state of an order stands for: a fill, or an order that has ended. */
const IRREPLACEABLE = '';
/** What a row costs that is not rendered yet. Its state is the fold's own, or was a moment ago. */
const UNRENDERED_BYTES = 64;

/** The subscriptions of one connection: numbers what they are told, sends it, and adds the tokens that say how far that is. */
export class OrderSubscriptions {
  private readonly all = new Map<string, OrderSubscription>();
  private nextNumber = 1;
  /** Changes when everything is sent anew; then what was being sent before is void. */
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

  /** Takes over the subscriptions of a token, and sends nothing yet. */
  restore({ nextNumber, subscriptions }: SocketPoint, seen: SeenSeqs): void {
    this.nextNumber = nextNumber;
    for (const { number, venues, position, seq, isComplete } of subscriptions) {
      const id = idOf(number);
      const held = Math.max(seq, seen[id] ?? 0);
      const phase = isComplete ? 'BEHIND' : 'NEW';
      this.all.set(id, { id, number, venues, phase, position, seq, held });
    }
  }

  covers({ venues }: OrderSubscription, venue: VenueId): boolean {
    return venues?.includes(venue) ?? true;
  }

  /** Tells one event to those in this phase that were not told it. */
  tell(told: ToldChange, phase: 'BEHIND' | 'LIVE'): void {
    const { round } = this;
    this.inDelivery = told;
    for (const subscription of this.list()) {
      if (subscription.phase !== phase || told.position <= subscription.position) continue;
      this.tellOne(subscription, told);
      if (this.round !== round) return;
    }
    this.inDelivery = undefined;
  }

  /** It was told all that there is; from here on it gets what happens. What the client says to hold beyond that never was. */
  goLive(subscription: OrderSubscription, position: number): void {
    subscription.phase = 'LIVE';
    subscription.position = position;
    subscription.held = subscription.seq;
  }

  /** The live orders at this moment. From here on the subscription gets what happens. */
  sendSnapshot(subscription: OrderSubscription, fold: UserFold): void {
    const { round } = this;
    const { outbox, limits } = this.ports;
    const states = fold.live().filter(({ terms }) => this.isTold(subscription, terms.venue));
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

  /** What was told until now does not go on. A snapshot has to follow. */
  sendResync(subscriptions: readonly OrderSubscription[], reason: SocketResyncReason): void {
    // All of them before anything is sent: no token may cover what was taken back.
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

  /** A heartbeat. Its token holds only as long as nothing before it is taken back, so it goes with what is. */
  beat(): void {
    const server_time = printTime(instantFromNanos(this.ports.clock.epochNanos()));
    this.ports.outbox.sendState(message('heartbeat', { server_time, resume_token: this.token() }));
  }

  /** What has not left counts as never sent. All have to be sent anew. */
  takeBack(dropped: ReadonlyMap<OrderSubscription, number>): void {
    this.round += 1;
    this.inDelivery = undefined;
    for (const [subscription, messages] of dropped) {
      subscription.seq -= messages;
      subscription.held = subscription.seq;
    }
  }

  /** Whether no snapshot could stand for what is dropped, and whatever is still to be told. */
  wouldLose(subjects: ReadonlySet<string>): boolean {
    if (this.list().some(({ phase }) => phase === 'BEHIND')) return true;
    const fold = this.foldNow();
    const isLost = (order: string | undefined): boolean =>
      order === undefined || order === IRREPLACEABLE || fold?.isLive(order) !== true;
    return (
      [...subjects].some(isLost) || (this.inDelivery?.parts ?? []).some((part) => isLost(part.superseded))
    );
  }

  private isTold(subscription: OrderSubscription, venue: VenueId): boolean {
    return this.covers(subscription, venue) && !this.ports.denied().has(venue);
  }

  private tellOne(subscription: OrderSubscription, { position, parts }: ToldChange): void {
    const { round } = this;
    const wanted = parts.filter(({ venue }) => this.isTold(subscription, venue));
    for (const [index, { type, members, superseded = IRREPLACEABLE }] of wanted.entries()) {
      const isLast = index === wanted.length - 1;
      subscription.seq += 1;
      // A token stands for whole events only.
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

  /** Stands for the whole connection as it is now. */
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
      subscriptions: this.list().map((subscription) => markOf(subscription, now)),
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

/** `now` is where the fold is, when nothing is being told. */
function markOf({ number, venues, phase, position, seq }: OrderSubscription, now: number): OrderMark {
  const reached = phase === 'LIVE' ? Math.max(position, now) : position;
  return { number, venues, position: reached, seq, isComplete: phase !== 'NEW' };
}

function snapshotMembers(states: readonly OrderState[], more: boolean): string {
  const orders = states.map((state) => JSON.stringify(orderRecord(state, 'row')));
  return `"orders":[${orders.join(',')}],"more":${more}`;
}
