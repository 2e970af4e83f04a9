import type { Instant } from '#libs/base/instant.js';
import type { OrderEvent } from '../events.js';
import { evolveOrder } from '../evolve.js';
import type { OrderState, VenueCall } from '../order.js';

type Less<Event> = Event extends OrderEvent ? Omit<Event, 'at' | 'user_id' | 'order_id' | 'call'> : never;
/** An order event without the fields that say when and for which order it was decided. */
export type OrderChange = Less<Exclude<OrderEvent, { type: 'CALL_RECORDED' }>>;

/** Collects events of one order. Each is applied at once, so later decisions see it. The first carries the venue call. */
export class OrderDraft {
  readonly events: OrderEvent[] = [];

  constructor(
    public state: OrderState,
    private readonly at: Instant,
    private readonly call?: VenueCall,
  ) {}

  add(change: OrderChange): void {
    const isFirst = this.events.length === 0;
    this.put({
      ...change,
      ...this.target,
      ...(isFirst && this.call !== undefined ? { call: this.call } : {}),
    });
  }

  /** Records the venue call even if it changed nothing. */
  recordCall(): void {
    if (this.events.length > 0 || this.call === undefined) return;
    this.put({ type: 'CALL_RECORDED', ...this.target, call: this.call });
  }

  private get target(): { at: Instant; user_id: string; order_id: string } {
    const { user_id, order_id } = this.state.terms;
    return { at: this.at, user_id, order_id };
  }

  private put(event: OrderEvent): void {
    this.events.push(event);
    this.state = evolveOrder(this.state, event);
  }
}
