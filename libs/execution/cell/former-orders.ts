import type { JournalReader } from '#libs/journal/journal.js';
import { decodeCellEvent } from '../protocol/event-codec.js';
import type { OrderEvent } from '../rules/events.js';
import { evolveOrder } from '../rules/evolve.js';
import type { OrderState } from '../rules/order.js';
import { isOrderEvent } from '../rules/user.js';
import type { UserEntry } from './user-entry.js';

/** Reads orders from the journal: their events, and orders that are no longer in memory. */
export class FormerOrders {
  constructor(
    private readonly reader: JournalReader,
    private readonly cell: number,
    private readonly durableHead: () => number,
  ) {}

  async events(entry: UserEntry, order_id: string): Promise<OrderEvent[]> {
    const head = this.durableHead();
    const positions = (entry.positions.get(order_id) ?? []).filter((at) => at <= head);
    if (positions.length === 0) return [];
    const records = await this.reader.entries(this.cell, positions);
    return records.map(({ payload }) => decodeCellEvent(payload)).filter(isOrderEvent);
  }

  async read(entry: UserEntry, order_id: string): Promise<OrderState | undefined> {
    let state: OrderState | undefined;
    for (const event of await this.events(entry, order_id)) state = evolveOrder(state, event);
    return state;
  }
}
