import type { ObservedFill } from '../protocol/cell-protocol.js';
import type { CellEvent, OrderEvent } from '../rules/events.js';
import type { OrderState } from '../rules/order.js';
import { orderOf } from '../rules/user.js';
import type { FormerOrders } from './former-orders.js';
import type { UserEntry } from './user-entry.js';

/** Finds the orders of one user for one decision, including orders that are no longer in memory. */
export class Recollection {
  private readonly former = new Map<string, OrderState>();
  private readonly missing = new Set<string>();

  constructor(
    readonly entry: UserEntry,
    private readonly journal: FormerOrders,
  ) {}

  /** Undefined if the order must be read from the journal first. Then the decision must be dropped and made again. */
  find(order_id: string): OrderState | undefined {
    const { head, positions } = this.entry;
    const inMemory = orderOf(head, order_id);
    if (inMemory !== undefined) return inMemory;
    const former = this.former.get(order_id);
    // Since it was read, the order may have been recalled, changed and dropped again.
    if (former !== undefined && former.seq === positions.get(order_id)?.length) return former;
    this.missing.add(order_id);
    return undefined;
  }

  /** Whether the order is in memory, or one of the fills is not booked yet. */
  isNews(order_id: string, fills: readonly ObservedFill[]): boolean {
    const { head, fills: booked } = this.entry;
    return orderOf(head, order_id) !== undefined || fills.some(({ fill }) => !booked.has(fill.fill_id));
  }

  /** The events, after a recall event if the order is not in memory. */
  before(order: OrderState, events: readonly OrderEvent[]): CellEvent[] {
    const [first] = events;
    if (first === undefined || orderOf(this.entry.head, order.terms.order_id) !== undefined)
      return [...events];
    return [{ type: 'ORDER_RECALLED', at: first.at, user_id: first.user_id, order }, ...events];
  }

  get isWhole(): boolean {
    return this.missing.size === 0;
  }

  async read(): Promise<void> {
    const wanted = [...this.missing];
    this.missing.clear();
    for (const order_id of wanted) {
      const order = await this.journal.read(this.entry, order_id);
      if (order !== undefined) this.former.set(order_id, order);
    }
  }
}
