import type { Instant } from '#libs/base/instant.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import type { OperatorRequest, TraderRequest } from '../protocol/cell-protocol.js';
import type { LimitRow } from '../protocol/cell-replies.js';
import { positionId } from '../protocol/position-id.js';
import { exposureRecord, isInDoubt } from '../rules/exposure.js';
import type { OrderState } from '../rules/order.js';
import { fillRecord, orderRecord, printTime } from '../rules/record.js';
import { orderTimeline } from '../rules/timeline.js';
import { waitingSince } from '../rules/decide/cancel.js';
import { emptyUser, orderOf, type UserState } from '../rules/user.js';
import { answer, NO_ORDER, refusal } from './cell-task.js';
import type { FormerOrders } from './former-orders.js';
import type { OpenSockets } from './open-sockets.js';
import type { OrderWatch } from './order-watch.js';
import type { Slots } from './slots.js';
import type { Switchboard } from './switchboard.js';
import type { UserEntry } from './user-entry.js';
import type { Users } from './users.js';

type Request<Op extends TraderRequest['op']> = Extract<TraderRequest, { op: Op }>;

export interface CellReadPorts {
  readonly users: Users;
  readonly former: FormerOrders;
  readonly slots: Slots;
  readonly sockets: OpenSockets;
  readonly switchboard: Switchboard;
  readonly watch: OrderWatch;
  readonly now: () => Instant;
  readonly durableHead: () => number;
}

/** Answers reads from a cell. It shows durable state only. */
export class CellReads {
  constructor(private readonly ports: CellReadPorts) {}

  async order({ user_id, order_id }: { user_id: string; order_id: string }): Promise<LinkReply> {
    const entry = this.ports.users.find(user_id);
    if (entry === undefined) return NO_ORDER;
    const order = orderOf(durable(entry), order_id) ?? (await this.ports.former.read(entry, order_id));
    return order === undefined ? NO_ORDER : answer('order', orderRecord(order, 'full'));
  }

  /** Queries the venue now, and returns the order as it is known at this moment. */
  reconcile(request: { user_id: string; order_id: string }): Promise<LinkReply> {
    const entry = this.ports.users.find(request.user_id);
    const order = entry === undefined ? undefined : orderOf(durable(entry), request.order_id);
    if (entry !== undefined && order !== undefined) this.ports.watch.askNow(entry, order);
    return this.order(request);
  }

  /** For operators: the user of the order, if it belongs to this cell. */
  owner({ order_id }: Extract<OperatorRequest, { op: 'order_owner' }>): LinkReply {
    const owner = this.ports.users.ownerOf(order_id);
    return owner === undefined ? NO_ORDER : answer('order_owner', { user_id: owner.user_id });
  }

  async fills({ user_id, order_id }: { user_id: string; order_id: string }): Promise<LinkReply> {
    const entry = this.ports.users.find(user_id);
    const events = entry === undefined ? [] : await this.ports.former.events(entry, order_id);
    const [first] = events;
    if (first === undefined || !('terms' in first)) return NO_ORDER;
    const booked = new Map(
      events.flatMap((event) => (event.type === 'ORDER_FILLED' ? [[event.fill.fill_id, event.fill]] : [])),
    );
    const fills = [...booked.values()].sort((a, b) => (a.occurred_at < b.occurred_at ? -1 : 1));
    return answer('order_fills', { fills: fills.map((fill) => fillRecord(first, fill)) });
  }

  async events({ user_id, order_id, after_seq, limit }: Request<'order_events'>): Promise<LinkReply> {
    const entry = this.ports.users.find(user_id);
    const events = entry === undefined ? [] : await this.ports.former.events(entry, order_id);
    const timeline = orderTimeline(events, after_seq, limit);
    return timeline === undefined ? NO_ORDER : answer('order_events', timeline);
  }

  liveOrders({ user_id, venues }: Request<'live_orders'>): LinkReply {
    const state = this.stateOf(user_id);
    const orders = [...state.live.values()].filter(
      ({ terms }) => venues === undefined || venues.includes(terms.venue),
    );
    return answer('live_orders', { position: this.ports.durableHead(), orders });
  }

  exposure({ user_id, select }: Request<'exposure'>): LinkReply {
    const entry = this.ports.users.find(user_id);
    const state = this.stateOf(user_id);
    if (entry !== undefined)
      for (const order of state.live.values()) if (isInDoubt(order)) this.ports.watch.askNow(entry, order);
    return answer('exposure', exposureRecord(state, select, this.ports.now(), positionId));
  }

  limits({ user_id, ...key }: Request<'limits'>): LinkReply {
    const { slots, sockets, now } = this.ports;
    const as_of = printTime(now());
    const { max } = sockets;
    const remaining = Math.max(max - sockets.countOf(user_id), 0);
    const row: LimitRow = {
      ...{ limit: 'sockets', scope: 'USER', max, window_ms: 0, remaining, resets_at: as_of },
    };
    return answer('limits', { limits: [...slots.rows(user_id, key), row], as_of });
  }

  tradingStatus({ user_id, venue }: Request<'trading_status'>): LinkReply {
    const { holdings } = this.stateOf(user_id);
    return answer('trading_status', this.ports.switchboard.statusOf(venue, user_id, holdings));
  }

  links({ user_id }: Request<'links'>): LinkReply {
    const links = [...this.stateOf(user_id).holdings.links].map(([venue, link]) => ({ venue, ...link }));
    return answer('links', { links });
  }

  takeSockets({ gateway, user_id, open }: Request<'sockets'>): LinkReply {
    if (this.ports.sockets.change(gateway, { user_id, open })) return answer('sockets', {});
    return refusal('RATE_LIMITED_CALLS', 'There are too many sockets.', { retry_after: 1 });
  }

  takeSlot({ user_id, limit }: Request<'take_slot'>): LinkReply {
    const { ok, slots } = this.ports.slots.takeCall(user_id, limit);
    if (ok) return answer('take_slot', { slots });
    return refusal('RATE_LIMITED_CALLS', 'There were too many of these calls in a short time.', {
      slots,
      retry_after: 1,
    });
  }

  transfers({ user_id, transfer_id }: Request<'transfers'>): LinkReply {
    const all = [...this.stateOf(user_id).holdings.transfers.values()];
    const transfers = all.filter(
      ({ terms }) => transfer_id === undefined || terms.transfer_id === transfer_id,
    );
    return answer('transfers', { transfers });
  }

  reconciliation({ user_id, venue }: Extract<OperatorRequest, { op: 'reconciliation' }>): LinkReply {
    const entries = [...this.ports.users.all()].filter(
      (entry) => user_id === undefined || entry.user_id === user_id,
    );
    const isSelected = (one: { readonly venue: string }): boolean =>
      venue === undefined || one.venue === venue;
    return answer('reconciliation', {
      differences: entries.flatMap((entry) =>
        [...durable(entry).holdings.differences.values()]
          .filter(isSelected)
          .map((difference) => ({ user_id: entry.user_id, ...difference })),
      ),
      doubts: entries.flatMap((entry) =>
        [...durable(entry).live.values()]
          .filter((order) => isInDoubt(order) && isSelected(order.terms))
          .map((order) => doubtOf(entry.user_id, order)),
      ),
    });
  }

  private stateOf(user_id: string): UserState {
    const entry = this.ports.users.find(user_id);
    return entry === undefined ? emptyUser : durable(entry);
  }
}

function durable(entry: UserEntry): UserState {
  return entry.durable ?? emptyUser;
}

function doubtOf(
  user_id: string,
  order: OrderState,
): { user_id: string; order_id: string; since: Instant; is_stalled: boolean } {
  return {
    user_id,
    order_id: order.terms.order_id,
    since: waitingSince(order) ?? order.updated_at,
    is_stalled: order.stalled_since !== undefined,
  };
}
