import type { Instant } from '#libs/base/instant.js';
import type { ExecutorRequest, ObservedFill, ObservedOrder } from '../protocol/cell-protocol.js';
import { OrderDraft } from '../rules/decide/order-draft.js';
import { decideFills } from '../rules/decide/report.js';
import { bookFills, isUnplacedYet, settleSeen } from '../rules/decide/settle.js';
import type { CellEvent, OrderEvent } from '../rules/events.js';
import { evolveOrder } from '../rules/evolve.js';
import type { OrderState, OrderTerms } from '../rules/order.js';
import type { VenueId } from '../rules/venues.js';
import type { Recollection } from './recollection.js';
import { venueName, type UserEntry } from './user-entry.js';

type Observed = Extract<ExecutorRequest, { op: 'observed' }>;
type ObservedAccountOrder = Observed['orders'][number];

export interface ObservationPorts {
  readonly newOrderId: (venue: VenueId) => string;
}

type NamedByVenue = Pick<ObservedOrder, 'exchange_order_id' | 'venue_client_id'>;

export interface Noticed {
  readonly events: readonly CellEvent[];
  /** Orders about which the venue must be queried. */
  readonly open: readonly string[];
}

const NEVER = '9999-12-31T23:59:59.999000000Z';

/** Makes events from what an account's feed shows, both for our orders and for orders placed elsewhere. */
export class Observations {
  constructor(private readonly ports: ObservationPorts) {}

  decide(recollection: Recollection, { venue, orders, fills }: Observed, at: Instant): Noticed {
    const { entry } = recollection;
    const events: CellEvent[] = [];
    const open: string[] = [];
    const left = new Set([...entry.parked, ...fills]);
    entry.parked = [];
    for (const seen of orders) {
      const own = [...left].filter(({ exchange_order_id: id }) => id === seen.exchange_order_id);
      for (const fill of own) left.delete(fill);
      const order_id = this.nameOf(entry, venue, seen);
      if (order_id === undefined) events.push(...this.external(entry, venue, seen, own, at));
      else this.known(recollection, order_id, { seen, fills: own, at }, events, open);
    }
    events.push(...this.fillsAlone(recollection, venue, [...left], at));
    return { events, open };
  }

  /** Books fills that came without their order, such as in the report on another order. */
  fillsAlone(
    recollection: Recollection,
    venue: VenueId,
    fills: readonly ObservedFill[],
    at: Instant,
  ): CellEvent[] {
    const { entry } = recollection;
    const byOrder = new Map<string, ObservedFill[]>();
    for (const fill of fills) {
      const list = byOrder.get(fill.exchange_order_id) ?? [];
      byOrder.set(fill.exchange_order_id, [...list, fill]);
    }
    return [...byOrder].flatMap(([id, own]) => {
      const order_id = this.nameOf(entry, venue, {
        exchange_order_id: id,
        ...own.find(({ venue_client_id: name }) => name !== undefined),
      });
      if (order_id !== undefined) return bookedOn(recollection, order_id, own, at);
      // The fill may belong to an order that is just being sent, whose id at the venue is not known yet.
      const mayBeOurs = [...entry.head.live.values()].some(
        (order) => order.terms.venue === venue && isUnplacedYet(order) && order.status !== 'queued',
      );
      if (mayBeOurs) {
        entry.parked = [...entry.parked, ...own];
        return [];
      }
      return this.externalByFills(entry, venue, own, at);
    });
  }

  private nameOf(entry: UserEntry, venue: VenueId, seen: NamedByVenue): string | undefined {
    const { names } = entry;
    const byClient =
      seen.venue_client_id === undefined ? undefined : names.get(venueName(venue, seen.venue_client_id));
    return (byClient ?? names.get(venueName(venue, seen.exchange_order_id)))?.id;
  }

  private known(
    recollection: Recollection,
    order_id: string,
    observed: { readonly seen: ObservedOrder; readonly fills: readonly ObservedFill[]; readonly at: Instant },
    events: CellEvent[],
    open: string[],
  ): void {
    const { seen, fills, at } = observed;
    // An ended order that shows nothing new need not be recalled into memory.
    if (seen.status !== 'resting' && !recollection.isNews(order_id, fills)) return;
    const order = recollection.find(order_id);
    if (order === undefined) return;
    const draft = new OrderDraft(order, at);
    bookFills(draft, fills);
    if (!isForReport(order, seen) && !settleSeen(draft, seen)) open.push(order_id);
    events.push(...recollection.before(order, draft.events));
  }

  private external(
    entry: UserEntry,
    venue: VenueId,
    seen: ObservedAccountOrder,
    fills: readonly ObservedFill[],
    at: Instant,
  ): OrderEvent[] {
    const isOver = seen.status !== 'resting';
    if (isOver && fills.length === 0) return [];
    const { exchange_order_id } = seen;
    const terms = this.externalTerms(entry.user_id, venue, seen);
    const draft = new OrderDraft(...found(terms, exchange_order_id, at));
    bookFills(draft, fills);
    settleSeen(draft, seen);
    return [foundEvent(terms, exchange_order_id, at), ...draft.events];
  }

  /** Only the fills of this order are known. */
  private externalByFills(
    entry: UserEntry,
    venue: VenueId,
    fills: readonly ObservedFill[],
    at: Instant,
  ): OrderEvent[] {
    const [first] = fills;
    if (first === undefined) return [];
    const { exchange_order_id, market_id, outcome, token_id, side, fill } = first;
    const quantity = fills.reduce((sum, one) => sum + one.fill.quantity, 0n);
    const terms = this.externalTerms(entry.user_id, venue, {
      ...{ market_id, outcome, outcome_index: 0, side, price: fill.price, quantity },
      ...(token_id === undefined ? {} : { token_id }),
    });
    const draft = new OrderDraft(...found(terms, exchange_order_id, at));
    bookFills(draft, fills);
    return [foundEvent(terms, exchange_order_id, at), ...draft.events];
  }

  private externalTerms(
    user_id: string,
    venue: VenueId,
    seen: Pick<
      ObservedAccountOrder,
      'market_id' | 'outcome' | 'outcome_index' | 'token_id' | 'side' | 'price' | 'quantity'
    >,
  ): OrderTerms {
    const { market_id, outcome, outcome_index, token_id, side, price, quantity } = seen;
    return {
      ...{ order_id: this.ports.newOrderId(venue), user_id, origin: 'external', venue, market_id },
      ...(token_id === undefined ? {} : { token_id }),
      ...{ outcome, outcome_index, side, kind: 'limit', time_in_force: 'GTC', post_only: false },
      ...{ quantity, price, requested: { quantity, price }, bound: price },
      ...{ max_retries: 0, collateral: 'skip', shard_funding: false, source: 'api', channel: 'EXTERNAL' },
      content: '',
      market: { min_size: 0n, closes_at: NEVER },
    };
  }
}

function bookedOn(
  recollection: Recollection,
  order_id: string,
  fills: readonly ObservedFill[],
  at: Instant,
): CellEvent[] {
  if (!recollection.isNews(order_id, fills)) return [];
  const order = recollection.find(order_id);
  return order === undefined ? [] : recollection.before(order, decideFills(order, fills, at));
}

function foundEvent(terms: OrderTerms, exchange_order_id: string, at: Instant): OrderEvent {
  const { user_id, order_id } = terms;
  return { type: 'EXTERNAL_ORDER_FOUND', at, user_id, order_id, terms, exchange_order_id };
}

function found(terms: OrderTerms, exchange_order_id: string, at: Instant): [OrderState, Instant] {
  return [evolveOrder(undefined, foundEvent(terms, exchange_order_id, at)), at];
}

/** The answer to a send says why the order found nothing. The venue's socket may be faster, so wait for the answer. */
function isForReport({ status, cancel }: OrderState, seen: ObservedOrder): boolean {
  const isBeingSent = (cancel?.before ?? status) === 'submitting';
  return isBeingSent && seen.status === 'cancelled' && seen.ended_by === undefined;
}
