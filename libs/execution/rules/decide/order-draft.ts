import type { Instant } from '#libs/base/instant.js';
import type { OrderEvent } from '../events.js';
import { evolveOrder } from '../evolve.js';
import type { OrderState, VenueCall } from '../order.js';

type Less<Event> = Event extends OrderEvent ? Omit<Event, 'at' | 'user_id' | 'order_id' | 'call'> : never;
/** An event before it is known of which order it is. */
export type OrderChange = Less<Exclude<OrderEvent, { type: 'CALL_RECORDED' }>>;

/** Several events of one order, decided one after the other. The first carries the call to the venue that they came of. */
export class OrderDraft {
  readonly events: OrderEvent[] = [];

  constructor(
    public state: OrderState,
    private readonly at: Instant,
    private readonly call?: VenueCall,
  ) {}

  add(change: OrderChange): void {
    const isFirst = this.events.length === 0;
    this.put({ ...change, ...this.name, ...(isFirst && this.call !== undefined ? { call: this.call } : {}) });
  }

  /** A call that has changed nothing is kept all the same. */
  recordCall(): void {
    if (this.events.length > 0 || this.call === undefined) return;
    this.put({ type: 'CALL_RECORDED', ...this.name, call: this.call });
  }

  private get name(): { at: Instant; user_id: string; order_id: string } {
    const { user_id, order_id } = this.state.terms;
    return { at: this.at, user_id, order_id };
  }

  private put(event: OrderEvent): void {
    this.events.push(event);
    this.state = evolveOrder(this.state, event);
  }
}
